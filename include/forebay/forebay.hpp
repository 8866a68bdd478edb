// Forebay for C++: save the state of a simulation at the price of one memory copy, restart it on any ranks.
//
// Order of calls:
//   open -> stream -> replicated | array | particles -> [newest -> read] -> { bind -> save } ... -> close
//
// Ranks:   calls marked "collective" are made by every rank of the session, in the same order; all others are
//          local and cost nothing a simulation would notice.
// Threads: a session and its streams belong to one thread at a time.
// Errors:  every call answers with a Result. Nothing here prints, throws (except Result::value), exits, aborts or
//          installs a signal handler. After an error the session stays usable unless its kind is `broken`.
// Memory:  save() has copied everything when it returns; your buffers are yours again.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forebay/describe.hpp"
#include "forebay/result.hpp"

namespace forebay {

/// What a save does when every slot of the stream still holds a snapshot that is not committed.
enum class Policy {
    wait,          // until a slot is free; the default, nothing is ever lost
    wait_at_most,  // StreamOptions::wait_max, then skip
    skip,          // at once
    newest_only,   // replace the waiting snapshot that the agent has not begun to drain, else skip
};

struct StreamOptions {
    int slots = 1;  // 1, or 2 to save while the step before still drains
    Policy policy = Policy::wait;
    std::chrono::milliseconds wait_max{10'000};  // for Policy::wait_at_most
    int keep = 3;                                // committed snapshots that stay at the target; 0 keeps all
    bool view = true;                            // make the plain view at commit, when the agent can
};

enum class AgentMode {
    process,  // outlives the application; own environment; makes views
    thread,   // inside the application, for machines that allow no second process
};

struct AgentOptions {
    AgentMode mode = AgentMode::process;
    std::string program;  // "" : FOREBAY_AGENT, else `forebay` beside the library or ../bin, else in PATH
    std::vector<std::pair<std::string, std::string>> environment;  // for the agent alone, e.g. LD_PRELOAD
    std::string cpus;                         // pin the agent, as in "0-3,8"; "" leaves it to the kernel
    std::uint64_t block_bytes = 16u << 20;    // of one write; a multiple of the target's stripe is best
    int in_flight = 2;                        // writes at once
    std::uint64_t rate_bytes_per_second = 0;  // 0: as fast as the target takes it
    bool direct = true;                       // past the page cache where the target can
    int retries = 5;                          // of a failing operation, with doubling pauses
    std::chrono::milliseconds retry_pause{200};
};

struct Options {
    std::string run;         // the directory at the target; created if missing
    std::string staging;     // "" : /dev/shm; a node-local directory
    int virtual_nodes = 1;   // parts that each machine's ranks are split into, each with its own agent
    bool huge_pages = true;  // align for them where the staging mount has them
    AgentOptions agent;
    std::chrono::milliseconds close_wait{600'000};   // close() waits at most so long for the agents
    std::uint64_t restart_window_bytes = 64u << 20;  // memory a rank's part of the restart window takes
    std::function<void(const std::string&)> log;  // called on world rank 0 with one line; nothing is printed without it
    std::vector<std::pair<std::string, StreamOptions>> streams;  // by name; stream() looks here first
};

/// Reads a TOML file (docs/guide/configuration.md). Unknown keys are `refused`, with line and nearest known key.
Result<Options> load_options(const std::string& path);

/// What one save did. Equal on all ranks but for the seconds.
struct Saved {
    std::int64_t step = 0;
    bool kept = false;           // false: the policy skipped the step; nothing was staged
    std::int64_t replaced = -1;  // newest_only: the step that was dropped for this one
    std::uint64_t bytes = 0;     // this rank's
    double blocked_seconds = 0;  // the whole call
    double wait_seconds = 0;     // of it: waiting for a free slot
    double plan_seconds = 0;     // of it: layout or patch, and seal, without exchange and barriers
    double copy_seconds = 0;     // of it: copying and checksumming this rank's blocks
};

/// Totals since the session was opened.
struct Counters {
    std::uint64_t saves = 0;                // kept
    std::uint64_t skipped = 0;              // by policy
    std::uint64_t replaced = 0;             // dropped by newest_only before their drain began
    std::uint64_t commits = 0;              // snapshots of this session that are committed
    std::uint64_t aborts = 0;               // drains that ended with an error (each may be retried and commit later)
    std::uint64_t bytes_saved = 0;          // by this rank
    std::uint64_t bytes_drained = 0;        // by this node's agent
    double blocked_seconds = 0;             // this rank's, in save()
    double wait_seconds = 0;                // of it, for free slots
    double drain_seconds = 0;               // this node's agent's, writing and syncing
    std::int64_t newest_durable_step = -1;  // committed, in this run's stream; -1: none
};

class Stream;
class Restart;
class Session;

/// A handle to a described table. Copyable; valid as long as its stream.
class Particles {
public:
    /// This rank's rows from now on, and where each column lies, in the order of describing. Local.
    /// The addresses must stay valid until the save or read that uses them returns.
    Result<> bind(std::uint64_t rows, std::vector<ColumnData> columns);
    std::uint64_t rows() const;

private:
    friend class Stream;
    friend class Restart;
    Particles(std::shared_ptr<class StreamState> stream, std::uint32_t table);
    std::shared_ptr<class StreamState> stream_;
    std::uint32_t table_ = 0;
};

/// The snapshot that newest() chose, before its data are read. Valid as long as its stream.
class Restart {
public:
    std::int64_t step() const;
    double time() const;
    /// "staged copy on this node", or the snapshot's directory.
    const std::string& source() const;
    /// Whether the same number of ranks saved it.
    bool same_ranks() const;
    /// The rows this rank gets of a table: its own where the rank counts agree, else a balanced share. Local.
    std::uint64_t rows(const Particles& table) const;
    /// Reads everything described into the described memory: replicated values, the boxes of arrays with
    /// their halos inside the global shape, and rows(table) rows of each table, which must be bound to as many.
    /// Every segment is verified. `corrupt` names the variable; call Stream::older() then for the one before.
    /// Variables that the snapshot has and the stream does not describe are left alone; one that the stream
    /// describes and the snapshot lacks, or has with another type or shape, is `refused` or `missing`. Collective.
    Result<> read();

private:
    friend class Stream;
    explicit Restart(std::shared_ptr<class RestartState> state) : state_(std::move(state)) {}
    std::shared_ptr<class RestartState> state_;
};

/// A named sequence of snapshots under one policy.
class Stream {
public:
    /// A value that is equal on every rank; the node's first rank's is saved. An empty shape is a scalar. Local.
    Result<> replicated(const std::string& name, Type type, const Extents& shape, void* data,
                        const Attributes& attributes = {});
    template <class T>
    Result<> replicated(const std::string& name, T* value, const Attributes& attributes = {}) {
        return replicated(name, type_of<T>(), {}, value, attributes);
    }

    /// A global array; this rank owns the boxes of `pieces`, perhaps none. Local; boxes of all ranks are checked
    /// against one another by the first save. `coverage` full refuses holes.
    Result<> array(const std::string& name, Type type, const Extents& shape, std::vector<Piece> pieces,
                   const Attributes& attributes = {}, Coverage coverage = Coverage::full);

    /// New boxes or addresses for a described array. Local; boxes that differ from before cost a new layout
    /// at the next save.
    Result<> rebind(const std::string& name, std::vector<Piece> pieces);
    /// A new address for a replicated variable.
    Result<> rebind(const std::string& name, void* data);

    /// A particle table: its columns share their rows; bind() says where they are. Local.
    Result<Particles> particles(const std::string& name, const std::vector<Column>& columns);

    /// Saves everything described under `step`, which must be >= 0. Returns when all is copied and sealed on the
    /// node; draining goes on behind. An error of an earlier drain surfaces here, with what is still safe; the
    /// step is then not saved. Collective.
    Result<Saved> save(std::int64_t step, double time = 0);

    /// Looks for the newest snapshot that can be read whole: staged copies first, then the target. Nothing there at
    /// all is an empty optional. Steps passed over and why are told to Options::log and stand in notes(). Collective.
    Result<std::optional<Restart>> newest();
    /// The snapshot before the one that newest() or older() gave last. Collective.
    Result<std::optional<Restart>> older();
    const std::vector<std::string>& notes() const;

    /// Waits until what was saved is committed, at most `at_most`; the error of a failing drain. Collective.
    Result<> wait_committed(std::chrono::milliseconds at_most);

    Counters counters() const;

private:
    friend class Session;
    explicit Stream(std::shared_ptr<class StreamState> state) : state_(std::move(state)) {}
    std::shared_ptr<class StreamState> state_;
};

/// One application's use of one run. Several may exist in one process.
class Session {
public:
    /// A session of this process alone. With MPI: forebay/mpi.hpp.
    static Result<Session> open(const Options& options);

    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;
    /// Leaves without waiting, as after a crash: agents finish what is staged. Call close() for a clean end.
    ~Session();

    /// The stream of that name, with options from Options::streams, else the defaults. Local.
    Result<Stream> stream(const std::string& name);
    Result<Stream> stream(const std::string& name, const StreamOptions& options);

    /// Whether this node's agent is draining now. Local, a load from memory.
    bool draining() const;

    /// Waits for the agents (Options::close_wait), releases staging, and reports what could not be committed: which
    /// step, where its staged copy is, the next command. Collective.
    Result<> close();

    /// Internal: how forebay/mpi.hpp opens a session over a communicator.
    static Result<Session> open_over(std::unique_ptr<class GroupHolder> world, const Options& options);

private:
    explicit Session(std::shared_ptr<class SessionState> state);
    std::shared_ptr<class SessionState> state_;
};

}  // namespace forebay
