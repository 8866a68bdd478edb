// Forebay for C++: save the state of a simulation for the price of one memory copy. Restart it on any number of ranks.
//
//   forebay::Session session = forebay::Session::open({.run = "/scratch/me/run7"}).value();
//   forebay::Stream stream = session.stream("restart", {.slots = 2}).value();
//   std::int64_t step = 0;
//   stream.replicated("step", &step).value();
//   stream.array("density", forebay::f64, {nx, ny}, {forebay::packed({{0, 0}, {nx, ny}}, forebay::f64, data)}).value();
//   stream.restore().value();  // reads the newest snapshot, if there is one
//   while (step < steps)
//       if (compute(), ++step % 100 == 0) stream.save(step).value();  // returns when everything is copied
//   session.close().value();
//
// Order of calls:
//   open -> stream -> replicated | array | particles -> [newest -> read] -> { bind -> save } ... -> close
//
// Ranks:   every rank of the session makes the calls marked "collective", in the same order. All other calls are
//          local, and too cheap for a simulation to notice.
// Threads: use a session and its streams from one thread at a time. The library's own threads (Options::copy_threads)
//          call no MPI and take no signals, so any thread mode of MPI works.
// Errors:  every call returns a Result. No call exits, aborts or installs a signal handler. Only Result::value()
//          throws. After an error you can still use the session, unless the kind is `broken`.
// Output:  Options::log. Without it only the two events that are described there are printed.
// Memory:  when save() returns, everything is copied. You may change your buffers.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forebay/describe.hpp"
#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay {

/// Reads a TOML file (docs/reference/configuration.md). An unknown key is `refused`: the error has the line and the
/// nearest known key.
Result<Options> load_options(const std::string& path);
/// Reads the options of a stream from a text such as "slots = 2\nfile = \"shared\"". The text has the lines below
/// [streams.NAME] of such a file. Options that are not in the text have their defaults.
Result<StreamOptions> parse_stream_options(const std::string& toml);

class Stream;
class Restart;
class Session;

/// The state behind the handles. Not for applications.
namespace detail {
class StreamState;
class RestartState;
class SessionState;
class GroupHolder;
Result<Session> open_over(std::unique_ptr<GroupHolder> world, const Result<Options>& options);
}  // namespace detail

/// A handle to a described particle table. You can copy it. It is valid as long as its stream.
class Particles {
public:
    /// Sets this rank's number of rows, and the place of each column, in the order of describing. Without `columns` it
    /// sets only the number of rows, which is enough before begin() and prepare(). Keep the addresses valid until the
    /// save or read returns that uses them. A `void*` has no type, so pass `types`, in the order of the columns, to let
    /// the call check them: another type than described is `refused`. Local.
    Result<> bind(std::uint64_t rows, std::vector<ColumnData> columns = {}, const std::vector<Type>& types = {});
    /// The number of rows of the last bind(). Local.
    std::uint64_t rows() const;

private:
    friend class Stream;
    friend class Restart;
    friend class DirectSave;
    Particles(std::shared_ptr<detail::StreamState> stream, std::uint32_t table);
    std::shared_ptr<detail::StreamState> stream_;
    std::uint32_t table_ = 0;
};

/// The snapshot that newest() chose, before its data are read. It is valid as long as its stream.
class Restart {
public:
    /// The step and the time with which the snapshot was saved. Local.
    std::int64_t step() const;
    double time() const;
    /// "staged copy on this node", or the snapshot's directory.
    const std::string& source() const;
    /// True if the same number of ranks saved it.
    bool same_ranks() const;
    /// The number of rows that this rank reads of a table. If the number of ranks is the same, these are the rank's own
    /// rows, else a balanced share. 0 for a table described after newest(). Local.
    std::uint64_t rows(const Particles& table) const;
    /// Reads everything you described into the described memory: replicated values, the boxes of arrays with their
    /// halos inside the global shape, and rows(table) rows of each table. Bind each table to that many rows first.
    /// Every segment is verified. If data are damaged, the error is `corrupt` and has the variable's name: call
    /// Stream::older() for the snapshot before. A described variable that the snapshot lacks is `missing`. If its type
    /// or shape differs, it is `refused`. Variables that you did not describe are ignored. After an error the described
    /// memory is undefined. Collective.
    Result<> read();
    /// Reads some of the described arrays and replicated variables. You can call it again for more variables, and
    /// describe them after newest(). Each call reads the heads of all node files that hold the variables. Collective.
    Result<> read(const std::vector<std::string>& variables);

private:
    friend class detail::StreamState;
    Restart(std::shared_ptr<detail::RestartState> state, std::shared_ptr<detail::StreamState> stream)
        : state_(std::move(state)), stream_(std::move(stream)) {}
    std::shared_ptr<detail::RestartState> state_;
    std::shared_ptr<detail::StreamState> stream_;
};

/// A save into the slot itself: the application writes its blocks there, so Forebay makes no copy and only computes the
/// checksums. Use it between Stream::begin() and seal(). seal() copies the blocks for which you asked no address, as
/// save() does. The next begin() or save() of the stream, and close(), discard a direct save without seal(). Its calls
/// are then `refused`.
class DirectSave {
public:
    /// False if the policy skipped the step: then write nothing and seal nothing.
    bool kept() const { return saved_.kept; }
    /// The address in the slot of this rank's box number `piece` of an array, packed in row-major order. For a
    /// replicated value: its address on the first rank of the node, nullptr on the other ranks. Fill all of it. Local.
    Result<void*> block(const std::string& variable, std::size_t piece = 0);
    /// The address in the slot of this rank's rows of a column, contiguous. Local.
    Result<void*> column(const Particles& table, std::size_t column);
    /// Computes the checksums, copies the rest, and seals. If kept() is false, it does nothing. Collective.
    Result<Saved> seal();

private:
    friend class Stream;
    DirectSave(std::shared_ptr<detail::StreamState> stream, Saved saved);
    Result<> check_under_way() const;
    std::shared_ptr<detail::StreamState> stream_;
    Saved saved_;
    std::uint64_t number_;
};

/// The type and shape to compare when you bind a variable again. An empty member is not compared.
struct As {
    std::optional<Type> type = {};
    std::optional<Extents> shape = {};  // the global shape of an array
};

/// A named sequence of snapshots under one policy.
class Stream {
public:
    /// Describes a value with the same bits on every rank. If the ranks differ, a save is `refused`, and the error has
    /// the ranks and their values. Values that you write through a DirectSave are not compared. With
    /// Replicated::first_rank ranks may differ: a restart gives rank 0's value to all ranks that describe the variable
    /// so. An empty shape is a scalar. Local.
    Result<> replicated(const std::string& name, Type type, const Extents& shape, void* data,
                        const Attributes& attributes = {}, Replicated which = Replicated::equal);
    /// The same for a scalar of a C++ type.
    template <class T>
    Result<> replicated(const std::string& name, T* value, const Attributes& attributes = {},
                        Replicated which = Replicated::equal) {
        return replicated(name, type_of<T>(), {}, value, attributes, which);
    }

    /// Describes a global array. This rank owns the boxes of `pieces`, perhaps none. The first save compares the boxes
    /// of all ranks: boxes must not overlap, and Coverage::full forbids holes. Local.
    Result<> array(const std::string& name, Type type, const Extents& shape, std::vector<Piece> pieces,
                   const Attributes& attributes = {}, Coverage coverage = Coverage::full);

    /// Gives new boxes or addresses to a described array. Boxes that differ from before cost a new layout at the next
    /// save. `refused` if the described variable differs from `as`, if the boxes have another number of dimensions, or
    /// if an element is larger than its distance in memory to the next. Local.
    Result<> rebind(const std::string& name, std::vector<Piece> pieces, const As& as = {});
    /// Gives a new address to a replicated variable. `refused` if the described variable differs from `as`: a `void*`
    /// has no type to compare. Local.
    Result<> rebind(const std::string& name, void* data, const As& as = {});
    /// The same for a C++ type. `refused` if the variable is described with another type.
    template <Element T>
    Result<> rebind(const std::string& name, T* data) {
        return rebind(name, data, {.type = type_of<T>()});
    }

    /// Removes an array or a replicated variable from the description. Do it on every rank before the next save. Local.
    Result<> forget(const std::string& name);

    /// Describes a particle table. All columns share their rows. bind() says where the rows are. Local.
    Result<Particles> particles(const std::string& name, const std::vector<Column>& columns);

    /// Lays out the slots and touches their pages now, so that the first save costs no more than later saves. Without
    /// this call the first save does it. Before it, bind tables to about as many rows as they will have. Collective.
    Result<> prepare();

    /// Saves everything described, as step `step` at time `time`. `step` is from 0 to 2^63 - 2. Both are equal on every
    /// rank. The call returns when all data are copied and sealed on the node. The agent drains them afterwards. If an
    /// earlier drain failed, this call returns its error, with what is still safe, and does not save the step.
    /// Collective.
    Result<Saved> save(std::int64_t step, double time = 0);

    /// Begins a save into the slot itself. It does all that save() does before the copy. Collective.
    Result<DirectSave> begin(std::int64_t step, double time = 0);

    /// Looks for the newest snapshot that can be read whole: first among the staged copies, then at the target. An
    /// empty answer means that no snapshot exists: begin anew.
    ///
    /// Damaged, marked and incomplete snapshots, and snapshots of another run, are skipped. Options::log and notes()
    /// have each reason. If only such snapshots exist, the call is an error with all reasons: `corrupt` if a snapshot
    /// is damaged, else `refused`. If a snapshot exists but cannot be read now (permissions, a missing file, an I/O
    /// error, a newer format), the call is an error at once, even if an older snapshot is whole. After an error the
    /// first save is refused until a restart succeeds.
    ///
    /// Only steps below `below` count: newest(0) begins anew, and newest(301) chooses step 300, even if it is marked.
    /// FOREBAY_RESTART and StreamOptions::restart_from limit the steps until the first save
    /// (docs/explanation/lines.md). Collective.
    Result<std::optional<Restart>> newest(std::int64_t below = std::numeric_limits<std::int64_t>::max());
    /// The snapshot before the last answer of newest() or older(). After a failed read() the answer is never empty: if
    /// no snapshot is left, it is an error. Collective.
    Result<std::optional<Restart>> older();
    /// The reasons why the last of these calls skipped snapshots. Valid until the next of them. Local.
    const std::vector<std::string>& notes() const;

    /// Restores the newest snapshot that reads whole, and returns it: newest(), bind and read() in one call. If the
    /// data of a snapshot turn out to be damaged, it tries the snapshot before. It returns an empty answer, and the
    /// errors, as newest() does. Tables need `bind`: the call runs it with each snapshot before it reads. In it, bind
    /// each table to Restart::rows() rows. The call ends with an error if `bind` fails, if a variable does not fit, or
    /// if storage fails. After an error the described memory is undefined: it may hold bytes that failed their
    /// checksum. Collective.
    Result<std::optional<Restart>> restore(const std::function<Result<>(Restart&)>& bind = {});

    /// Waits until your saves are committed, for at most `at_most`. If a drain fails, it returns that error.
    /// Collective.
    Result<> wait_committed(std::chrono::milliseconds at_most);

    /// Totals since the session was opened. Local.
    Counters counters() const;

private:
    friend class Session;
    explicit Stream(std::shared_ptr<detail::StreamState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::StreamState> state_;
};

/// One application's use of one run. A process may have several.
class Session {
public:
    /// Opens a session of this process only. With MPI use forebay/mpi.hpp.
    static Result<Session> open(const Options& options);
    /// The same with the answer of load_options(). If it is an error, this call returns it.
    static Result<Session> open(const Result<Options>& options);

    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    /// Leaves without waiting, as after a crash: the agents finish the staged snapshots. Call close() for a clean end.
    ~Session();

    /// Opens the stream `name`, with its options of Options::streams, else the defaults. If it is already open, you get
    /// a second handle to the same stream: both share one description. Collective.
    Result<Stream> stream(const std::string& name);
    /// The same with these options. `refused` if they differ between ranks, or from the options of the stream that is
    /// already open. Collective.
    Result<Stream> stream(const std::string& name, const StreamOptions& options);
    /// The same with the answer of parse_stream_options(). If it is an error on any rank, this call returns it on every
    /// rank.
    Result<Stream> stream(const std::string& name, const Result<StreamOptions>& options);

    /// True while this node's agent drains. Costs a load from memory. Local.
    bool draining() const;

    /// A directory of this node for small files of any program of the job. The agent packs the files into a few files
    /// of the run, then removes them. `forebay extract RUN` restores them. Write a file under a name that begins with a
    /// dot, then rename it: any other name counts as finished. The directory has the space of the staging file system.
    /// close() removes the directory, so later writes there fail. Files that could not be packed stay, and close()
    /// reports them. Empty when the session is closed. Local.
    std::string spool() const;

    /// Asks at the end of a step if it is time to save or to end. All ranks get the same answer. Reasons to end: the
    /// job's time is nearly over (Options::job), somebody ran `forebay stop RUN`, or a rank passed `stop_wanted`, for
    /// example from a flag of its signal handler. `forebay stop --save` asks only for a save. Conditions of analyses
    /// come this way too (Job::condition).
    ///
    /// If it asks to stop for the job's limit, the call also writes RUN/.continue for the script that submits the next
    /// job. The first call of a session removes that file. The first call also asks the batch system. Each call costs
    /// one maximum of 5 numbers over all ranks, and a broadcast if a condition is fulfilled. Collective.
    Result<Job> job(bool stop_wanted = false);

    /// Waits for the agents, at most Options::close_wait. Then it releases staging and reports each snapshot that could
    /// not be committed: its step, the place of its staged copy, and the next command. Collective.
    Result<> close();

private:
    friend Result<Session> detail::open_over(std::unique_ptr<detail::GroupHolder> world,
                                             const Result<Options>& options);
    explicit Session(std::shared_ptr<detail::SessionState> state);
    std::shared_ptr<detail::SessionState> state_;
};

}  // namespace forebay
