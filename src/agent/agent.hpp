// The agent of one node: sealed slot -> drain -> commit -> retention, until the session ends or its application has
// died and nothing is left to do. One loop, hosted by a process (run_agent) or by a thread of the application.
//
// Errors never end it: a slot whose drain fails becomes `failed` after bounded retries, its staged copy stays, and it
// is tried again at the next bell.
//
// Order: urgency.hpp. What is sealed while a drain is under way and is more urgent overtakes it: between two pieces the
// drain stops, the other slot is drained and committed, then the first goes on where it was.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "agent/pacer.hpp"
#include "agent/urgency.hpp"
#include "catalog/catalog.hpp"
#include "drain/compress.hpp"
#include "move/writer.hpp"
#include "node/staging.hpp"
#include "sys/store.hpp"

namespace forebay::agent {

/// Makes a view of a committed snapshot; empty where no views are built in.
using ViewMaker = std::function<Result<>(sys::Store&, const catalog::Snapshot&, Convention)>;
/// One line for the agent's log.
using Log = std::function<void(const std::string&)>;

/// How long an agent whose session has ended waits for the others. It may leave before them: the last one commits.
inline constexpr std::chrono::seconds peers_wait_max{10};

class Agent {
public:
    Agent(sys::Store& store, node::Staging& staging, node::SessionFile session, ViewMaker make_view, Log log);

    /// Returns when the session ended or `stop` is true; then whether everything that was sealed is committed. What
    /// lacks node files of other nodes when the session has ended is waited for at most `peers_wait`.
    bool run(const std::atomic<bool>& stop, std::chrono::seconds peers_wait = peers_wait_max);

    /// Paths of what stood under names of views of snapshots that it replaced or removed, and was none.
    const std::set<std::string>& others() const { return others_; }

private:
    struct Mine {
        sys::Mapping mapping;
        std::uint32_t bell_at_failure = 0;
        std::uint64_t torn = 0;           // the save that was found damaged
        int absences = 0;                 // looks in a row that found the part of a drained slot nowhere
        std::uint32_t look_first_at = 0;  // the node whose arrival is checked first: this one, then one that was absent
        std::uint64_t file_bytes = 0;     // of the drain under way
        std::atomic<bool> overruled{false};  // it keeps no limit on the slowdown, so as to end in time
    };

    void take_over();
    bool work(const std::atomic<bool>& stop);
    class Between;

    std::optional<std::uint32_t> most_urgent(const Urgency* than) const;
    bool commit_drained();
    void overtake(std::uint32_t index, std::uint32_t overtaken, const std::atomic<bool>& stop);
    bool misses_deadline(std::uint32_t index) const;
    bool any_misses_deadline() const;
    void count_missed_deadlines();
    void take_steps();
    void steer(std::uint32_t index);
    Pacer::Answer allowed(std::uint32_t index, sys::Clock::time_point now);
    bool application_computes(sys::Clock::time_point now);
    bool drain_slot(std::uint32_t index, bool again, const std::atomic<bool>& stop);
    bool commit_slot(std::uint32_t index);
    bool part_gone(std::uint32_t index, const std::string& stream, const format::Record& record);
    Result<> map_slot(std::uint32_t index);
    Result<> check_run() const;
    void tell_set_aside(std::uint32_t index, const format::Record& record);
    Result<bool> is_committed(std::uint32_t index) const;
    Result<> drain_once(std::uint32_t index, bool again, Between& between, const std::atomic<bool>& stop);
    bool staged_is_whole(std::uint32_t index) const;
    drain::CompressionMemory& compression_memory(std::uint32_t stream);
    std::int64_t ends_unix_ns(std::uint32_t index) const;
    std::optional<double> seconds_to_compress(std::uint32_t index) const;
    void fail(std::uint32_t index, const Error& error);
    void committed(std::uint32_t index, const format::Record& record, bool by_us);
    void keep_window(std::uint32_t stream, const catalog::Snapshot& snapshot, const format::Line& line);
    void tell_of(const std::vector<std::string>& others);
    bool unfinished() const;
    void give_up(const Error& error);
    bool run_until(const std::atomic<bool>& stop, std::chrono::seconds peers_wait);
    void set(node::SlotControl& slot, node::SlotState state);

    sys::Store& store_;
    node::Staging& staging_;
    node::Control& page_;
    node::SessionFile session_;
    ViewMaker make_view_;
    Log log_;
    std::uint32_t bell_ = 0;               // as seen when this round began
    std::uint64_t begun_ = 0, ended_ = 0;  // drains of this agent: committed, failed or left to others
    std::array<Mine, node::slots_max> mine_;
    std::array<drain::CompressionMemory, node::streams_max> compression_;
    std::array<std::optional<format::Line>, node::streams_max> named_lines_;  // whose names are in order, by stream
    std::set<std::string> others_;                                            // each is told once
    move::Pace pace_;                                                         // of all drains under way
    std::atomic<bool> hold_{false};
    std::atomic<sys::Clock::time_point> commits_looked_at_{};

    std::mutex steering_;  // guards what follows while a drain is under way
    Pacer pacer_;
    std::uint64_t samples_seen_ = 0;
    sys::Clock::time_point steered_, looked_for_application_;
    bool application_lives_ = true;
};

/// Who runs an agent: a process of its own may outlive its application, and keep what it staged for a while.
enum class Hosted { process, rank };

/// The body of `forebay agent`: takes the agent's lock, calls `ready`, runs. True when everything is committed; also
/// when another agent serves the directory already. When all is committed and nobody uses the directory any more it is
/// freed: at once after the session's end, after AgentOptions::linger when the application has died.
Result<bool> run_agent(const std::string& directory, const std::function<void()>& ready, const ViewMaker& make_view,
                       const Log& log, Hosted hosted);

/// How what a dead session left is drained. Writes itself, or through `forwarding`; not through the forwarders that the
/// session had.
struct LeftoverOptions {
    bool remove = false;  // the directory, when all of it is committed
    node::Forwarding forwarding = {};
    std::string into = {};      // another run, which takes what is staged as its own; "": the one that it is of
    std::string moved_to = {};  // where the run is now, of that identity; "": where the session had it
};

/// The body of `forebay drain`: one round over what a dead session left in a staging directory, with the errors it met.
/// `refused` while its session or its agent lives, and where the run's directory is gone or another run's: then nothing
/// is freed. `missing` when nothing is staged there, by a session that was killed as it began.
struct Drained {
    std::string stream;
    std::int64_t step = 0;  // -1: not a snapshot but the spool, of which something is not packed
    std::string staged_path;
    bool committed = false;
    bool already = false;  // it was, before this call
    bool waiting = false;  // all of it is at the target, but node files of other nodes are not
    std::string text;      // why it is not committed; of one that is, what stays beside it

    std::string name() const { return step < 0 ? stream : stream + "@" + std::to_string(step); }
};
Result<std::vector<Drained>> drain_leftover(const std::string& directory, const ViewMaker& make_view,
                                            const LeftoverOptions& options);

/// The same over several directories, which may hold nodes of one snapshot: the last of them commits, and the others
/// then see it. Passes over those whose session or agent lives; `staged` is `missing` for what was killed as it began.
struct DrainedDirectory {
    std::string directory;
    Result<std::vector<Drained>> staged;
};
std::vector<DrainedDirectory> drain_leftovers(const std::vector<std::string>& directories, const ViewMaker& make_view,
                                              const LeftoverOptions& options);

/// What dead sessions left staged on this node, by whose it is. `run` is absolute. Of one that staged for another path
/// only what the run's last session left is taken, whose claim had the key `last_claim`: the run has been moved since.
/// Anything else of this identity is of a copy of the run.
struct Leftovers {
    std::vector<std::string> own;     // of this run, perhaps when it lay elsewhere
    std::vector<std::string> others;  // of runs that lay at this path before, or of copies; with what is not committed
};
Result<Leftovers> find_leftovers(const std::string& staging, const std::string& run, std::uint64_t run_id,
                                 std::uint64_t last_claim);

}  // namespace forebay::agent
