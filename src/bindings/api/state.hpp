// The state behind the handles of forebay.hpp.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/api/beginning.hpp"
#include "bindings/api/description.hpp"
#include "bindings/api/job_side.hpp"
#include "bindings/api/log.hpp"
#include "bindings/api/profile.hpp"
#include "bindings/api/restarts.hpp"
#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/comm/group.hpp"
#include "core/sys/crew.hpp"
#include "core/sys/process.hpp"
#include "core/sys/store.hpp"
#include "core/sys/target_store.hpp"
#include "forebay/forebay.hpp"
#include "path/agent/hosts.hpp"
#include "path/catalog/given_up.hpp"
#include "path/node/host.hpp"
#include "path/node/long_wait.hpp"
#include "path/node/staging.hpp"
#include "path/node/step_clock.hpp"
#include "path/node/timing_ring.hpp"
#include "path/restart/wish.hpp"
#include "path/stage/lineage_policy.hpp"
#include "path/stage/stager.hpp"

namespace forebay {

namespace detail {

/// Hands over a communicator from forebay/mpi.hpp, so that this library does not depend on MPI.
class GroupHolder {
public:
    explicit GroupHolder(std::unique_ptr<comm::Group> group, std::span<agent::Post> posts = {},
                         node::Forwarding forwarding = {})
        : group_(std::move(group)), posts_(posts), forwarding_(std::move(forwarding)) {}
    comm::Group& group() const { return *group_; }
    std::unique_ptr<comm::Group> take() { return std::move(group_); }
    /// The posts of this machine's dedicated agents. They live until MPI is finalised.
    std::span<agent::Post> posts() const { return posts_; }
    /// The forwarders of this job. They live as long.
    const node::Forwarding& forwarding() const { return forwarding_; }

private:
    std::unique_ptr<comm::Group> group_;
    std::span<agent::Post> posts_;
    node::Forwarding forwarding_;
};

}  // namespace detail

class SessionOpening;

using detail::GroupHolder, detail::SessionState, detail::StreamState, detail::RestartState;

/// Limits for the end of an agent. An agent that is told to end, and has nothing left to do, leaves at once; a stuck
/// agent never leaves. With short analyses a session waits for them, so that its counters include them.
inline constexpr std::chrono::seconds agent_end_max{15}, analyses_end_max{5}, stuck_agent_end_max{1};

/// Deletes only in the process that made the object. In a forked child a deletion would end the parent's agent, free
/// its slots, and use its communicators and connections. So the child leaves them alone.
struct IfOwn {
    template <class T>
    void operator()(T* state) const {
        if (process == sys::process_id()) delete state;
    }
    std::int64_t process = sys::process_id();
};

/// A session's lock of its run. Equal on all ranks.
struct LockedRun {
    std::uint64_t run_id = 0;
    std::uint32_t session = 0;                      // its number in the run; 0: not locked yet
    std::uint64_t key = 0, last_key = 0;            // of this lock, and of the lock before
    std::optional<restart::RestartWish> wish = {};  // from FOREBAY_RESTART of the first rank
    catalog::WentOnByStream went_on = {};           // the last choice of each stream's restarts
};

/// The time when a session was opened, by the system clock and by the steady clock, and the leftovers it found.
struct OpenedAt {
    std::int64_t unix_ns = 0;
    sys::Clock::time_point steady;
    std::vector<std::string> left = {};  // staging directories of earlier sessions, on a rank of this machine
};

/// Helpers of a rank.
struct BesideRank {
    std::unique_ptr<node::Host> host = {};   // of its node's agent; only on the node's first rank
    std::unique_ptr<sys::Crew> crew = {};    // the threads that copy
    std::optional<ProfileUse> profile = {};  // the profile in use
};

class detail::SessionState {
public:
    SessionState() = default;
    SessionState(const SessionState&) = delete;
    SessionState& operator=(const SessionState&) = delete;

    /// Opens a stream. Without options it uses those of the stream that is already open, else those of the
    /// configuration. Collective.
    Result<std::shared_ptr<StreamState>> stream(const std::shared_ptr<SessionState>& self, const std::string& name,
                                                const std::optional<Result<StreamOptions>>& options);
    Result<> close();
    Result<Job> job(bool stop_wanted);
    /// Ends a save: records its duration for the end of the job and for the profile, and starts the step clock again.
    void end_save(const std::string& stream, const Result<Saved>& saved);
    /// Tell the step clock that the simulation stops computing, and that it computes again. Calls of Forebay that wait
    /// or copy lie in between, so they count in no step. `stream` is the stream to save.
    void leave_computing(std::optional<std::uint32_t> stream = {});
    void compute_again();

    /// The host of this node's agent; nullptr on ranks that are not the node's first.
    node::Host* host() const { return beside_.host.get(); }
    /// Sends the line that `text` makes to the application's log. It needs no agreement: if `text` throws, the line is
    /// dropped.
    template <class Text>
    void log(const Text& text) const {
        log_to(say_, text);
    }
    /// The log for long waits. Empty if nobody listens, as on all ranks except the first.
    const node::Say& say() const { return say_; }
    /// The threads that copy for this rank, until close().
    sys::Crew* crew() const { return beside_.crew.get(); }
    /// The store for small files that the session itself writes, on the world's first rank.
    const std::shared_ptr<sys::Store>& target() const { return target_; }
    /// The stream, if it has a handle.
    std::shared_ptr<StreamState> living(const std::string& stream) const;
    /// `refused` in a child that the session's process forked: agents, locks and communicators belong to the parent.
    Result<> check_process() const;
    bool in_own_process() const { return process_ == sys::process_id(); }
    /// Also an error if the session is closed or collective calls are no longer possible.
    Result<> check_open() const;
    /// `refused` if another session has taken over the run. Perhaps only on this node.
    Result<> check_lost() const;

    Options options;
    comm::Topology topology;
    std::optional<node::Staging> staging;
    std::optional<node::TimingRings> timings;  // if the session keeps timings
    std::uint64_t id = 0;
    LockedRun claim;
    OpenedAt opening;
    std::uint64_t alignment_bytes = 4096;

private:
    friend class forebay::SessionOpening;

    std::int64_t process_ = sys::process_id();
    /// `refused` if a stream has the name of the results of another stream.
    Result<> check_apart_from_results(const std::string& name, const StreamOptions& wanted) const;
    Result<> free_staging();

    std::map<std::string, std::weak_ptr<StreamState>> streams_;  // handles own streams, streams own the session
    node::Say say_;
    std::shared_ptr<sys::Store> target_;
    BesideRank beside_;
    node::StepClock step_clock_;  // only on the node's first rank
    JobSide job_{*this};
};

/// Runs `work` in a thread. Returns its answer, or `retry` after `limit`: a thread that hangs in a dead mount cannot be
/// stopped, only left behind. So `work` must own all that it uses.
Result<> within(std::chrono::milliseconds limit, const std::string& what, std::function<Result<>()> work,
                const node::Say& say);

class detail::StreamState : public std::enable_shared_from_this<StreamState> {
public:
    StreamState(std::shared_ptr<SessionState> session, const std::string& name, const StreamOptions& options);
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;
    ~StreamState() { stager.abandon(); }  // else close() would wait for a slot that nobody fills any more

    /// Runs a call of the application: `refused` in a forked child. Exceptions become an Error.
    template <class Work>
    auto guarded(Work&& work) const {
        return attempt([&]() -> std::invoke_result_t<Work> {
            FB_TRY(session->check_process());
            return work();
        });
    }

    /// The same for a call that needs an open session.
    template <class Work>
    auto guarded_open(Work&& work) const {
        return guarded([&]() -> std::invoke_result_t<Work> {
            FB_TRY(session->check_open());
            return work();
        });
    }

    Result<> prepare();
    /// If `values` is final, every column must have an address.
    Result<Saved> begin(std::int64_t step, double time, stage::Stager::Values values);
    /// Finishes the save of begin().
    Result<Saved> finish();
    /// The handle of a chosen snapshot, if there is one.
    Result<std::optional<Restart>> handle_of(Restarts::Found match);
    Restart handle_of(std::shared_ptr<RestartState> state);

    Counters counters() const;

    std::shared_ptr<SessionState> session;
    Counters at_close;  // the answer of counters() after the control page is gone
    StreamDescription description;
    std::vector<char> direct;  // variables that the application writes itself in the save under way
    stage::Stager stager;
    stage::LineagePolicy lineage;
    Beginning beginning;
    Restarts restarts;
};

/// The absolute path, without "." and ".." parts and trailing '/'. `refused` for a relative path if this process's
/// directory is gone. `what` names the path in the error.
Result<std::string> absolute_path(const std::string& path, const std::string& what);

/// Makes the paths of scripts absolute: workers have other current directories.
Result<> place_scripts(const std::string& stream, StreamOptions& options);
/// `missing` for a script that cannot be read here. Once a node.
Result<> look_for_scripts(const std::string& stream, const StreamOptions& options);

/// load_options() for a text. `path` is for error texts.
Result<Options> decode_options(const std::string& text, const std::string& path);
/// Sets the options in the text and keeps all others. Does not check options against each other.
Result<> read_over(const std::string& text, const std::string& path, Options& options);
Result<> read_over(const std::string& text, const std::string& path, StreamOptions& options);

/// `refused` for options that cannot work.
Result<> check(const Options& options);
Result<> check(const std::string& stream, const StreamOptions& options);

}  // namespace forebay
