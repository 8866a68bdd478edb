// Events of an agent and its drains, as data. The agent emits each event once, and sinks use it as they want, such as
// for a line of a log.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace forebay::agent {

/// The kind of an event. The comment lists the members of Event that are set beside `stream` and `step`. An event of a
/// snapshot sets both, an event of a stream sets only `stream`.
enum class What : std::uint32_t {
    // Events of a snapshot, in the order of its life.
    begun,            // the drain
    retried,          // the drain. seconds: since the last try failed; detail: its error
    overtook,         // it stops another drain. bytes: written by that drain; detail: which step
    late,             // its deadline has passed. seconds: since the seal; detail: the state of its slot
    noted,            // detail: a note of the drain, such as the compression used
    overruled,        // drained faster than a limit allows. detail: the limit
    drained,          // bytes, seconds
    failed,           // detail: the whole text
    incomplete,       // durable, but node files of other nodes of an earlier session are missing
    superseded,       // a later save of the step is committed
    set_aside,        // committed for a line that a later session has left. detail: the whole text
    committed,        // bytes, seconds: of the drain
    found_committed,  // by another agent
    analysed,         // place: by "analyses" or "scripts"; count: of results; seconds: to the last result
    not_analysed,     // by the station that began. place: as before; detail: the reason
    flagged,          // it fulfils a condition of an analysis. detail: the condition, and its actions
    analysis_note,    // detail: a note of its analyses, each text once
    left_unseen,      // by a station that failed, or is missing. detail: the station, and the error
    viewed,           // place: the view; seconds
    not_viewed,       // place: the view; detail: the error; seconds
    pruned,           // removed after the commit of a later snapshot
    settled,          // only analyses are left to do. seconds: of the retention
    slow,             // its save, drain or commit. detail: the reason, with the numbers
    // Events of a stream.
    uncompressed,  // detail: the error
    not_pruned,    // detail: the error
    problem,       // found by the retention. detail: the whole text
    stays,         // a file with the name of a view that is no view. detail: the whole text
    // Events of the spool.
    packed,        // count: of files; bytes
    not_packed,    // place: the staging directory; detail: the error
    packed_later,  // when the agent ends. place: the staging directory; detail: the error
    left_out,      // detail: the files, and the reason
    // Events of the run lock.
    not_renewed,    // detail: the error
    not_looked_at,  // detail: the error
    lost,           // to another session. detail: the whole text
    // Events of the agent.
    serves,        // count: its process; place: the staging directory; detail: the run
    forwards,      // detail: the forwarding hosts
    takes_cpus,    // detail: the error
    miscounted,    // detail: the numbers
    worker_begun,  // a program of analyses. count: its process; place: the program
    worker_ended,  // by itself, or killed because it did not work. place: "analyses", "scripts"; detail: the error
    analyses_end,  // for this session: the program fails again and again. count: how often; place, detail: as before
    script_off,    // for this session, for a stream: as before. place: the analysis
    lingers,       // seconds
    leaves,        // with everything committed
    leaves_work,   // place: the staging directory
    freed,         // the staged data
    not_freed,     // detail: the whole text
    unrecorded,    // events, in the run. place: the file; detail: the error
    untimed,       // timings of saves and drains: as before
    unreported,    // the cost of the session. place: the run; detail: the error
    unshown,       // the status of the agent. place: the file; detail: the error
    avoids,        // a storage target, for new node files. detail: the target, and how slow it is
    uses_again,    // an avoided target. detail: the target, and how fast it is
    unplaced,      // the file system places node files, in spite of the options. detail: the error
    helps,         // it also writes for other nodes of the job. detail: its address
    helped,        // at its end. count, detail: node files that it made for other nodes
    helps_not,     // as it should. detail: the error
    detours,       // from the next drain on it writes through a neighbour. place: its name; detail: why
    no_detour,     // no neighbour answers, so it writes itself. detail: the reason for a detour, and the errors
    writes_again,  // itself, because it is fast again. detail: how fast
};

/// "committed"
const char* name_of(What what);

inline constexpr std::uint32_t no_slot = UINT32_MAX;

struct Event {
    What what;
    std::string stream = {};
    std::int64_t step = -1;
    std::uint32_t slot = no_slot;  // of the node, if the event belongs to a slot
    std::uint64_t bytes = 0, count = 0;
    double seconds = 0;
    std::string place = {};   // a path
    std::string detail = {};  // all other facts
};

/// A sink of events. Any thread of the agent may call it.
using Tell = std::function<void(const Event&)>;
/// One line for the agent's log.
using Log = std::function<void(const std::string&)>;

/// An event in words; empty if people need not read it.
std::string line_of(const Event& event);

Tell to_log(Log log);
Tell to_all(std::vector<Tell> hearers);

}  // namespace forebay::agent
