// Events of an agent and of what it drains, as data: the agent tells each event once, and its hearers make of it what
// they want, such as a line of a log.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace forebay::agent {

/// The kind of an event. The comment names the members of Event that are set beside `stream` and `step`; those two are
/// set where the event is one of a snapshot, `stream` alone where it is one of a stream.
enum class What : std::uint32_t {
    // Of a snapshot, in the order of its life.
    begun,            // its drain
    retried,          // its drain. seconds: since the try before had failed; detail: the error of that
    overtook,         // it stops the drain of another one. bytes: written of that one; detail: which one
    late,             // its deadline has passed. seconds: since the seal; detail: the state of its slot
    noted,            // detail: what the drain has to say, such as how it was compressed
    overruled,        // drained faster than a limit allows. detail: the limit
    drained,          // bytes, seconds
    failed,           // detail: the whole text
    incomplete,       // durable, but node files of other nodes of an earlier session are missing
    superseded,       // a later save of the step is committed
    set_aside,        // committed as one of a line that a later session has left. detail: the whole text
    committed,        // bytes, seconds: of the drain
    found_committed,  // by another agent
    analysed,         // place: by "analyses" or "scripts"; count: of results; seconds: to the last of them
    not_analysed,     // by the station that has begun. place: as before; detail: why
    flagged,          // it fulfils a condition of an analysis. detail: which one, and what follows
    analysis_note,    // detail: what its analyses have to say, each text once
    left_unseen,      // by a station that has failed, or is missing. detail: which one, and the error
    viewed,           // place: the view; seconds
    not_viewed,       // place: the view; detail: the error; seconds
    pruned,           // removed after the commit of a later one
    settled,          // nothing is left to do but for analyses. seconds: of the retention
    slow,             // its save, drain or commit. detail: why, with the numbers
    // Of a stream.
    uncompressed,  // detail: the error
    not_pruned,    // detail: the error
    problem,       // found by the retention. detail: the whole text
    stays,         // a file under the name of a view, which is none. detail: the whole text
    // Of the spool.
    packed,        // count: of files; bytes
    not_packed,    // place: the staging directory; detail: the error
    packed_later,  // when the agent ends. place: the staging directory; detail: the error
    left_out,      // detail: which files, and why
    // Of the run's claim.
    not_renewed,    // detail: the error
    not_looked_at,  // detail: the error
    lost,           // to another session. detail: the whole text
    // Of the agent.
    serves,        // count: its process; place: the staging directory; detail: the run
    forwards,      // detail: through which hosts
    takes_cpus,    // detail: the error
    miscounted,    // detail: the numbers
    worker_begun,  // a program of analyses. count: its process; place: the program
    worker_ended,  // unasked, or killed because it did not do its work. place: "analyses", "scripts"; detail: the error
    analyses_end,  // for this session: the program fails again and again. count: how often; others as before
    script_off,    // for this session, of a stream: as before. place: the analysis
    lingers,       // seconds
    leaves,        // with everything committed
    leaves_work,   // place: the staging directory
    freed,         // what was staged
    not_freed,     // detail: the whole text
    unrecorded,    // events, in the run. place: the file; detail: the error
    untimed,       // what saves and drains took: as before
    unreported,    // what the session cost. place: the run; detail: the error
    unshown,       // what the agent does just now. place: the file; detail: the error
    avoids,        // a storage target, for new node files. detail: which, and how slow
    uses_again,    // one that it had avoided. detail: which, and how fast
    unplaced,      // node files lie where the file system puts them, whatever the options say. detail: the error
    helps,         // it also writes for other nodes of the job. detail: where they reach it
    helped,        // at its end. count, detail: node files that it has made for others
    helps_not,     // as it should. detail: the error
    detours,       // from the next drain on it writes through a neighbour. place: which; detail: which, and why
    no_detour,     // no neighbour answers, and it writes itself. detail: why it would not, and the errors
    writes_again,  // itself, as it is no longer slow. detail: how fast
};

/// "committed"
const char* name_of(What what);

inline constexpr std::uint32_t no_slot = UINT32_MAX;

struct Event {
    What what;
    std::string stream = {};
    std::int64_t step = -1;
    std::uint32_t slot = no_slot;  // of the node, where the event is one of a slot
    std::uint64_t bytes = 0, count = 0;
    double seconds = 0;
    std::string place = {};   // a path
    std::string detail = {};  // what the others do not say
};

/// Hears events, from any thread of the agent.
using Tell = std::function<void(const Event&)>;
/// One line for the agent's log.
using Log = std::function<void(const std::string&)>;

/// An event in words; empty for one that people need not read of.
std::string line_of(const Event& event);

Tell to_log(Log log);
Tell to_all(std::vector<Tell> hearers);

}  // namespace forebay::agent
