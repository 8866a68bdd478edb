// What stands behind the handles of forebay.hpp.

#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/job.hpp"
#include "comm/group.hpp"
#include "drain/post.hpp"
#include "forebay/forebay.hpp"
#include "restart/choose.hpp"
#include "restart/plan.hpp"
#include "restart/reader.hpp"
#include "stage/long_wait.hpp"
#include "stage/stager.hpp"
#include "stage/staging.hpp"
#include "stage/step_clock.hpp"
#include "sys/store.hpp"

namespace forebay {

/// How forebay/mpi.hpp hands a communicator over without this library knowing MPI.
class GroupHolder {
public:
    explicit GroupHolder(std::unique_ptr<comm::Group> group, std::span<drain::Post> posts = {},
                         stage::Forwarding forwarding = {})
        : group_(std::move(group)), posts_(posts), forwarding_(std::move(forwarding)) {}
    std::unique_ptr<comm::Group> take() { return std::move(group_); }
    /// Of this machine's dedicated agents; they live until MPI is finalised.
    std::span<drain::Post> posts() const { return posts_; }
    /// The hosts of this job that write for the others; as long.
    const stage::Forwarding& forwarding() const { return forwarding_; }

private:
    std::unique_ptr<comm::Group> group_;
    std::span<drain::Post> posts_;
    stage::Forwarding forwarding_;
};

class SessionState {
public:
    SessionState() = default;
    SessionState(const SessionState&) = delete;
    SessionState& operator=(const SessionState&) = delete;
    ~SessionState();

    /// Collective over `world`.
    Result<> open(GroupHolder& holder, const Result<Options>& options);
    /// Without options those of the stream that is open already, else of the configuration. Collective.
    Result<std::shared_ptr<StreamState>> stream(const std::shared_ptr<SessionState>& self, const std::string& name,
                                                const std::optional<StreamOptions>& options);
    Result<> close();
    Result<Job> job(bool stop_wanted);
    /// What is not computing begins, with the stream that is saved if one is, and ends.
    void leave_computing(std::optional<std::uint32_t> stream = {});
    void compute_again();

    /// By the node's first rank: starts the agent unless it lives.
    Result<> ensure_agent();
    void log(const std::string& line) const;
    /// The same for waits that last: empty where nobody listens, as on all ranks but the first.
    const stage::Say& say() const { return say_; }
    Result<> check_open() const;
    Result<> check_spool() const;

    Options options;
    comm::Topology topology;
    std::optional<stage::Staging> staging;
    std::uint64_t id = 0;
    std::int64_t opened_unix_ns = 0;
    std::uint64_t alignment_bytes = 4096;

private:
    Result<> find_forwarders(const stage::Forwarding& of_job);
    Result<> open_target();
    Result<> open_staging();
    Result<> wait_for_old_agents(const std::string& directory);
    Result<> start_process();
    Result<> start_thread();
    Result<> ask_dedicated();
    Result<> look_at_job();
    void mark_to_continue();

    std::map<std::string, std::weak_ptr<StreamState>> streams_;  // the handles own them, and they own the session
    std::span<drain::Post> posts_;
    stage::Forwarding forwarding_;
    stage::Say say_;
    // Where this session writes beside its agents' doing: small files, on the world's first rank.
    std::shared_ptr<sys::Store> target_;
    struct AgentThread;
    void end_thread(std::chrono::seconds wait_max);
    std::shared_ptr<AgentThread> thread_;
    stage::StepClock step_clock_;  // of the node's first rank
    bool job_looked_ = false;
    std::unique_ptr<JobState> job_;  // on the world's first rank, from the first call of job() on
};

/// The answer of `work`, or `retry` after `limit`: a thread that hangs in a dead mount cannot be stopped, only left.
Result<> within(std::chrono::milliseconds limit, const std::string& what, std::function<Result<>()> work,
                const stage::Say& say);

class StreamState : public std::enable_shared_from_this<StreamState> {
public:
    StreamState(std::shared_ptr<SessionState> session, const std::string& name, const StreamOptions& options);
    StreamState(const StreamState&) = delete;
    StreamState& operator=(const StreamState&) = delete;
    ~StreamState() { stager.abandon(); }  // close() would wait for a slot that nobody fills any more

    Result<> add(Variable variable, void* data, std::vector<Piece> pieces, Replicated which = Replicated::equal);
    Result<std::uint32_t> add_table(const std::string& name, const std::vector<Column>& columns);
    /// `missing`, or `refused` where it is described otherwise.
    Result<std::size_t> index_of(const std::string& variable, Kind kind, const As& as) const;
    Result<std::optional<Restart>> choose(std::int64_t below);
    /// Reads the heads of the chosen node files: the rows of this rank's tables, and which staged copies to map.
    Result<> look_at_heads(RestartState& state);
    Result<Saved> begin(std::int64_t step, double time, stage::Stager::Values values, Result<> mine);
    /// What begin() began.
    Result<Saved> finish();
    /// Whether every column that has rows has an address or is written by the application.
    Result<> check_bound(std::span<const char> direct) const;

    Counters counters() const;

    std::shared_ptr<SessionState> session;
    Counters at_close;  // what counters() says once the control page is gone
    Schema schema;
    stage::Binding binding;
    bool changed = true;       // since the last layout
    std::vector<char> direct;  // variables whose blocks the application writes in the save under way
    stage::Stager stager;
    restart::Chooser chooser;
    std::int64_t chosen_step = -1;
    std::weak_ptr<RestartState> reading;  // what was chosen last
    std::vector<std::string> notes;       // why newer snapshots were passed over
};

class RestartState {
public:
    /// Reads what `schema` describes unless some rank's `mine` is an error. Collective.
    Result<> read(StreamState& stream, const Schema& schema, const stage::Binding& binding, Result<> mine);

    restart::Choice choice;
    restart::Kept kept;
    std::vector<std::uint64_t> rows;  // by table of the stream
};

/// The command `forebay`: as configured, else FOREBAY_AGENT, else beside this library or in ../bin, else to be found in
/// PATH.
std::string agent_program(const std::string& configured);

/// Absolute, without "." or ".." parts and trailing '/'.
std::string absolute_path(const std::string& path);

/// load_options() of a file whose text is known; `path` is for its errors.
Result<Options> decode_options(const std::string& text, const std::string& path);

/// Who gets the lines of a session's log: Options::log, else standard error where that is asked for, else nobody.
std::function<void(const std::string&)> log_of(const Options& options);

/// `refused` for settings that cannot work.
Result<> check(const Options& options);
Result<> check(const std::string& stream, const StreamOptions& options);

}  // namespace forebay
