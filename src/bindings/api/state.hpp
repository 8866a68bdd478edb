// What stands behind the handles of forebay.hpp.

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

/// How forebay/mpi.hpp hands a communicator over without this library knowing MPI.
class GroupHolder {
public:
    explicit GroupHolder(std::unique_ptr<comm::Group> group, std::span<agent::Post> posts = {},
                         node::Forwarding forwarding = {})
        : group_(std::move(group)), posts_(posts), forwarding_(std::move(forwarding)) {}
    comm::Group& group() const { return *group_; }
    std::unique_ptr<comm::Group> take() { return std::move(group_); }
    /// Of this machine's dedicated agents; they live until MPI is finalised.
    std::span<agent::Post> posts() const { return posts_; }
    /// The hosts of this job that write for the others; as long.
    const node::Forwarding& forwarding() const { return forwarding_; }

private:
    std::unique_ptr<comm::Group> group_;
    std::span<agent::Post> posts_;
    node::Forwarding forwarding_;
};

}  // namespace detail

class SessionOpening;

using detail::GroupHolder, detail::SessionState, detail::StreamState, detail::RestartState;

/// After it is told to end, an agent with nothing left to do leaves at once; one that is stuck never does. For one with
/// analyses a session waits so long that its counters tell of those that are short.
inline constexpr std::chrono::seconds agent_end_max{15}, analyses_end_max{5}, stuck_agent_end_max{1};

/// Deletes in the process that made it alone. A child that this one has forked would end its parent's agent, give its
/// slots back, and speak on its communicators and connections; it leaves them as they are.
struct IfOwn {
    template <class T>
    void operator()(T* state) const {
        if (process == sys::process_id()) delete state;
    }
    std::int64_t process = sys::process_id();
};

/// A session's claim of its run. Alike on all ranks.
struct LockedRun {
    std::uint64_t run_id = 0;
    std::uint32_t session = 0;                      // its number in the run; 0: the run is not claimed yet
    std::uint64_t key = 0, last_key = 0;            // of this claim, and of the one before
    std::optional<restart::RestartWish> wish = {};  // where FOREBAY_RESTART, of the first rank, has restarts begin
    catalog::WentOnByStream went_on = {};           // what the session's restarts have chosen last
};

/// When a session was opened, by the machine's clock and by the one that nobody sets, and what it met.
struct OpenedAt {
    std::int64_t unix_ns = 0;
    sys::Clock::time_point steady;
    std::vector<std::string> left = {};  // staging directories of earlier sessions, on a rank of this machine
};

/// What works beside a rank.
struct BesideRank {
    std::unique_ptr<node::Host> host = {};   // of its node's agent, on the node's first rank
    std::unique_ptr<sys::Crew> crew = {};    // the threads that copy
    std::optional<ProfileUse> profile = {};  // what was measured here before
};

class detail::SessionState {
public:
    SessionState() = default;
    SessionState(const SessionState&) = delete;
    SessionState& operator=(const SessionState&) = delete;

    /// Without options those of the stream that is open already, else of the configuration. Collective.
    Result<std::shared_ptr<StreamState>> stream(const std::shared_ptr<SessionState>& self, const std::string& name,
                                                const std::optional<Result<StreamOptions>>& options);
    Result<> close();
    Result<Job> job(bool stop_wanted);
    /// Notes what a save of this rank took, for the end of the job and against the profile; then the simulation
    /// computes again.
    void end_save(const std::string& stream, const Result<Saved>& saved);
    /// Tell the step clock that the simulation stops computing, and that it computes again. Calls of Forebay that wait
    /// or copy lie between the two, so that they count in no step; `stream` is the one that is being saved.
    void leave_computing(std::optional<std::uint32_t> stream = {});
    void compute_again();

    /// Of this node's agent; none on ranks that are not the node's first.
    node::Host* host() const { return beside_.host.get(); }
    /// Hands a line, which `text` makes, to the application's log. Needs no agreement: what is thrown is left out.
    template <class Text>
    void log(const Text& text) const {
        log_to(say_, text);
    }
    /// The same for waits that last: empty where nobody listens, as on all ranks but the first.
    const node::Say& say() const { return say_; }
    /// The threads that copy for this rank, until close().
    sys::Crew* crew() const { return beside_.crew.get(); }
    /// Where the session writes beside its agents' doing: small files, on the world's first rank.
    const std::shared_ptr<sys::Store>& target() const { return target_; }
    /// The stream, if it has a handle.
    std::shared_ptr<StreamState> living(const std::string& stream) const;
    /// `refused` in a child that the session's process has forked: agents, locks and communicators are its parent's.
    Result<> check_process() const;
    bool in_own_process() const { return process_ == sys::process_id(); }
    /// The same, and when collective calls cannot be made any more.
    Result<> check_open() const;
    /// `refused`, on this node perhaps alone, when another session has taken over the run.
    Result<> check_lost() const;

    Options options;
    comm::Topology topology;
    std::optional<node::Staging> staging;
    std::optional<node::TimingRings> timings;  // where the session keeps them
    std::uint64_t id = 0;
    LockedRun claim;
    OpenedAt opening;
    std::uint64_t alignment_bytes = 4096;

private:
    friend class forebay::SessionOpening;

    std::int64_t process_ = sys::process_id();
    /// `refused` where one stream has the name of another's results.
    Result<> check_apart_from_results(const std::string& name, const StreamOptions& wanted) const;
    Result<> free_staging();

    std::map<std::string, std::weak_ptr<StreamState>> streams_;  // the handles own them, and they own the session
    node::Say say_;
    std::shared_ptr<sys::Store> target_;
    BesideRank beside_;
    node::StepClock step_clock_;  // of the node's first rank
    JobSide job_{*this};
};

/// The answer of `work`, or `retry` after `limit`: a thread that hangs in a dead mount cannot be stopped, only left.
Result<> within(std::chrono::milliseconds limit, const std::string& what, std::function<Result<>()> work,
                const node::Say& say);

class detail::StreamState : public std::enable_shared_from_this<StreamState> {
public:
    StreamState(std::shared_ptr<SessionState> session, const std::string& name, const StreamOptions& options);
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;
    ~StreamState() { stager.abandon(); }  // close() would wait for a slot that nobody fills any more

    /// What a call of the application answers: `refused` in a forked child, and what is thrown is an Error.
    template <class Work>
    auto guarded(Work&& work) const {
        return attempt([&]() -> std::invoke_result_t<Work> {
            FB_TRY(session->check_process());
            return work();
        });
    }

    /// The same, for what needs an open session.
    template <class Work>
    auto guarded_open(Work&& work) const {
        return guarded([&]() -> std::invoke_result_t<Work> {
            FB_TRY(session->check_open());
            return work();
        });
    }

    Result<> prepare();
    /// With final values every column must have its address by now.
    Result<Saved> begin(std::int64_t step, double time, stage::Stager::Values values);
    /// What begin() began.
    Result<Saved> finish();
    /// The handle of what a restart has found, if it has.
    Result<std::optional<Restart>> handle_of(Restarts::Found match);
    Restart handle_of(std::shared_ptr<RestartState> state);

    Counters counters() const;

    std::shared_ptr<SessionState> session;
    Counters at_close;  // what counters() says once the control page is gone
    StreamDescription description;
    std::vector<char> direct;  // variables whose blocks the application writes in the save under way
    stage::Stager stager;
    stage::LineagePolicy lineage;
    Beginning beginning;
    Restarts restarts;
};

/// Absolute, without "." or ".." parts and trailing '/'. `refused` for a relative path where this process's directory
/// is gone; `what` is its name in the error.
Result<std::string> absolute_path(const std::string& path, const std::string& what);

/// Makes the paths of its scripts absolute: workers have other current directories.
Result<> place_scripts(const std::string& stream, StreamOptions& options);
/// `missing` for a script that cannot be read here. Once a node.
Result<> look_for_scripts(const std::string& stream, const StreamOptions& options);

/// load_options() of a file whose text is known; `path` is for its errors.
Result<Options> decode_options(const std::string& text, const std::string& path);
/// What the text names is set in `options`, all else stays; without the checks of what goes together.
Result<> read_over(const std::string& text, const std::string& path, Options& options);
Result<> read_over(const std::string& text, const std::string& path, StreamOptions& options);

/// `refused` for settings that cannot work.
Result<> check(const Options& options);
Result<> check(const std::string& stream, const StreamOptions& options);

}  // namespace forebay
