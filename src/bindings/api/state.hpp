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

#include "bindings/api/job.hpp"
#include "bindings/api/profile.hpp"
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
#include "path/restart/choose.hpp"
#include "path/restart/plan.hpp"
#include "path/restart/reader.hpp"
#include "path/restart/wish.hpp"
#include "path/stage/course.hpp"
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
struct RunClaim {
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

    /// What this rank wants and has; run and staging of the world's first rank as absolute paths. `wanted` is agreed.
    /// Local.
    Result<> prepare(const GroupHolder& holder, const Options& wanted);
    /// After prepare() on all ranks. Collective.
    Result<> open(GroupHolder& holder);
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
    /// Compares the speed of a save with the profile's.
    void watch_profile(const Saved& saved);

    /// Of this node's agent; none on ranks that are not the node's first.
    node::Host* host() const { return beside_.host.get(); }
    /// Hands a line, which `text` makes, to the application's log. Needs no agreement: what is thrown is left out.
    template <class Text>
    void log(const Text& text) const {
        if (say_) static_cast<void>(attempt([&] { say_(text()); }));
    }
    /// The same for waits that last: empty where nobody listens, as on all ranks but the first.
    const node::Say& say() const { return say_; }
    /// The threads that copy for this rank, until close().
    sys::Crew* crew() const { return beside_.crew.get(); }
    /// `refused` in a child that the session's process has forked: agents, locks and communicators are its parent's.
    Result<> check_process() const;
    bool in_own_process() const { return process_ == sys::process_id(); }
    /// The same, and when collective calls cannot be made any more.
    Result<> check_open() const;
    /// `refused`, on this node perhaps alone, when another session has taken over the run.
    Result<> check_lost() const;
    /// The last session that has saved in a stream, as its newest snapshot and its names tell. On the world's first
    /// rank; waits for the target only shortly.
    Result<std::uint32_t> last_saver(const std::string& stream) const;

    Options options;
    comm::Topology topology;
    std::optional<node::Staging> staging;
    std::optional<node::TimingRings> timings;  // where the session keeps them
    std::uint64_t id = 0;
    RunClaim claim;
    OpenedAt opening;
    std::uint64_t alignment_bytes = 4096;

private:
    std::int64_t process_ = sys::process_id();
    /// The forwarders of this node's agent: `of_job`, or those of the configuration.
    Result<node::Forwarding> find_forwarders(const node::Forwarding& of_job);
    /// Who of the job writes for its nodes that are excluded or slow, as this node's agent needs to know. Collective.
    Result<node::Neighbourhood> find_neighbours();
    /// Gives all ranks the wish that the first rank has in its environment. Collective.
    Result<> share_wish();
    Result<> open_target(const node::Forwarding& forwarding);
    /// Both wait for what is ending of the session before (session_wait.cpp). Collective.
    Result<> lock_staging(std::optional<node::LockedDirectory>& locked);
    Result<> wait_for_old_agents(const std::string& directory);
    Result<> claim_run(const std::string& directory);
    Result<> open_staging(std::optional<node::LockedDirectory> locked, const std::string& directory,
                          std::span<agent::Post> posts, const node::Forwarding& forwarding,
                          const node::Neighbourhood& neighbours);
    Result<> drain_leftovers(const node::Forwarding& forwarding);
    Result<> start(const GroupHolder& holder);
    Result<> find_crew();
    /// What Options::profile names, or finds: the first rank reads it, all take the same. Collective.
    Result<> take_profile(comm::Group& world);
    void take_profile(const std::string& name, StreamOptions& wanted) const;
    void give_up();
    /// `refused` where one stream has the name of another's results.
    Result<> check_apart_from_results(const std::string& name, const StreamOptions& wanted) const;
    Result<> free_staging();
    Result<> look_at_job();
    /// What this rank knows of the job. Local.
    JobReport report_job(bool stop_wanted);
    /// The condition that all are given, of the rank that `urgency` names. Collective.
    Result<std::optional<node::Raised>> hear_condition(std::int64_t urgency);
    void mark_to_continue();

    std::map<std::string, std::weak_ptr<StreamState>> streams_;  // the handles own them, and they own the session
    node::Say say_;
    // Where this session writes beside its agents' doing: small files, on the world's first rank.
    std::shared_ptr<sys::Store> target_;
    BesideRank beside_;
    node::StepClock step_clock_;  // of the node's first rank
    JobSide job_;
};

/// The answer of `work`, or `retry` after `limit`: a thread that hangs in a dead mount cannot be stopped, only left.
Result<> within(std::chrono::milliseconds limit, const std::string& what, std::function<Result<>()> work,
                const node::Say& say);

/// What a stream knows of its restarts. Equal on all ranks but for `reading`.
struct Restarts {
    std::int64_t step = -1;  // of the snapshot that was chosen last
    bool looked_for_replaced = false;
    bool wish_counts = true;  // until the first save: then newest() means what this session has saved
    bool wish_is_told = false;
    bool is_before_save = true;
    bool looked_for_given_up = false;
    std::weak_ptr<RestartState> reading;    // what was chosen last
    std::vector<std::string> notes;         // why newer snapshots were passed over
    std::vector<restart::NotTaken> passed;  // by the call under way, or by the last one, which failed
    std::vector<restart::NotTaken> unread;  // reads that failed since one was right: memory holds what they left

    /// The application has its state, and a snapshot of it.
    void saved() {
        wish_counts = false;
        is_before_save = false;
        unread.clear();
    }
};

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

    Result<> add(Variable variable, void* data, std::vector<Piece> pieces, Replicated which = Replicated::equal);
    Result<std::uint32_t> add_table(const std::string& name, const std::vector<Column>& columns);
    /// `missing`, or `refused` where it is described otherwise.
    Result<std::size_t> index_of(const std::string& variable, Kind kind, const As& as) const;
    Result<> forget(const std::string& name);
    Result<> bind(std::uint32_t table, std::uint64_t rows, std::vector<ColumnData> columns,
                  const std::vector<Type>& types);
    Result<> prepare();
    restart::ChooserContext chooser_context(Marked marked);
    /// newest() and older(): the newest below a step; a marked one of step `named` as well.
    Result<std::optional<Restart>> choose(std::int64_t below, std::int64_t named = -1);
    /// The same, after what was passed over before.
    Result<std::optional<Restart>> choose_next(std::int64_t below, std::int64_t named);
    Result<std::optional<Restart>> restore(const std::function<Result<>(Restart&)>& bind);
    Result<std::optional<Restart>> restore_next(const std::function<Result<>(Restart&)>& bind);
    /// `refused` where the restart before a first save has failed.
    Result<> check_restarted(std::int64_t step) const;
    /// `retry` where the stream holds a snapshot of a later session. Local; the world's first rank looks.
    Result<> check_not_filled(std::int64_t step) const;
    /// `what` is what stands there, of session `of`.
    Error filled_meanwhile(const std::string& what, std::uint32_t of) const;
    /// The answer of a restart as a first save sees it: after an error it is refused. Collective.
    Result<std::optional<Restart>> answered(Result<std::optional<Restart>> found);
    /// Once a stream. Collective.
    Result<> bring_back_replaced();
    /// Where the restarts of this session begin, if not at the newest; told once. Collective.
    Result<std::optional<restart::RestartWish>> wish();
    /// After it has decided; a configuration has it decide once. Collective.
    Result<> note_wish(const restart::RestartWish& wish);
    /// Before a first save in a stream that was not restored: lines of attempts that the run has given up do not count.
    /// Once a stream. Collective.
    Result<> drop_given_up();
    /// An error where something is there below `below` that was passed over, or a wish was not fulfilled. Collective.
    Result<> check_has_none(std::int64_t below, const std::optional<restart::RestartWish>& wish);
    /// Restart::read() of all that is described. Collective.
    Result<bool> read_whole(RestartState& state);
    /// Looks at the heads of what the chooser offers; false, and a note, when it is to be passed over. Collective.
    Result<bool> looks_whole(RestartState& state);
    /// What people should know of a choice.
    void note(const std::string& text);
    /// Notes it, and counts it against the answer that there is nothing.
    void pass_over(restart::NotTaken passed);
    /// Prints a line for each damaged snapshot that a restart has passed over, by the first rank, if no log has it.
    void warn_of_damage() const;
    /// Reads the heads of the chosen node files: the rows of this rank's tables, and which staged copies to map.
    Result<> look_at_heads(RestartState& state, const restart::Plan& plan);
    /// With final values every column must have its address by now.
    Result<Saved> begin(std::int64_t step, double time, stage::Stager::Values values);
    /// What begin() began.
    Result<Saved> finish();
    /// Whether every column that has rows has an address or is written by the application.
    Result<> check_bound(std::span<const char> direct) const;

    Counters counters() const;

    std::shared_ptr<SessionState> session;
    Counters at_close;  // what counters() says once the control page is gone
    Schema schema;
    SchemaNames names;  // of its variables
    describe::Binding binding;
    bool changed = true;       // since the last layout
    std::vector<char> direct;  // variables whose blocks the application writes in the save under way
    stage::Stager stager;
    restart::Chooser chooser;
    stage::Course course;
    Restarts restarts;
};

/// What is read of a description, all or some variables, and where they lie.
struct Part {
    Schema schema;
    describe::Binding binding;
};

class detail::RestartState {
public:
    /// Reads what `part_of_mine` gives unless that is an error on some rank. Whether it was all there, or had holes.
    /// Collective.
    Result<bool> read(StreamState& stream, const std::function<Result<Part>()>& part_of_mine);
    /// After an error that all ranks share: gives the staged copies up where they were damaged and the target has the
    /// snapshot too. Collective.
    Result<bool> turn_to_target(const StreamState& stream, const Error& error);

    restart::Choice choice;
    restart::Kept kept;
    std::vector<std::uint64_t> rows;  // by table of the stream
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

/// The receiver of a session's log lines: Options::log, else standard error where that is asked for, else none.
std::function<void(const std::string&)> log_of(const Options& options);

/// The application beside the waits of a rank: it hears lines on rank 0, and interrupts on any. It throws nothing.
node::Say say_of(const Options& options, bool is_first_rank);
/// Prints a line to standard error. Only for damage that nobody would see otherwise.
void warn(const std::string& text);

/// `refused` for settings that cannot work.
Result<> check(const Options& options);
Result<> check(const std::string& stream, const StreamOptions& options);

}  // namespace forebay
