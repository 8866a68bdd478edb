// Forebay for C++: save the state of a simulation at the price of one memory copy, restart it on any ranks.
//
//   forebay::Session session = forebay::Session::open({.run = "/scratch/me/run7"}).value();
//   forebay::Stream stream = session.stream("restart", {.slots = 2}).value();
//   std::int64_t step = 0;
//   stream.replicated("step", &step).value();
//   stream.array("density", forebay::f64, {nx, ny}, {forebay::packed({{0, 0}, {nx, ny}}, forebay::f64, data)}).value();
//   stream.restore().value();  // the newest snapshot, where there is one
//   while (step < steps)
//       if (compute(), ++step % 100 == 0) stream.save(step).value();  // returns when all is copied
//   session.close().value();
//
// Order of calls:
//   open -> stream -> replicated | array | particles -> [newest -> read] -> { bind -> save } ... -> close
//
// Ranks:   calls marked "collective" are made by every rank of the session, in the same order; all others are
//          local and cost nothing a simulation would notice.
// Threads: a session and its streams belong to one thread at a time. Those of ours that copy beside it
//          (Options::copy_threads) call no MPI and take no signals: any thread mode of MPI will do.
// Errors:  every call answers with a Result. Nothing here prints, throws (except Result::value), exits, aborts or
//          installs a signal handler. After an error the session stays usable unless its kind is `broken`.
// Memory:  save() has copied everything when it returns; your buffers are yours again.

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

/// Reads a TOML file (docs/reference/configuration.md). Unknown keys are `refused`, with line and nearest known key.
Result<Options> load_options(const std::string& path);
/// The options of a stream, from a text that could stand below [streams.NAME] in such a file:
/// "slots = 2\nfile = \"shared\"". Options that the text does not name have their defaults.
Result<StreamOptions> parse_stream_options(const std::string& toml);

class Stream;
class Restart;
class Session;

/// The states behind the handles; not for applications.
namespace detail {
class StreamState;
class RestartState;
class SessionState;
class GroupHolder;
Result<Session> open_over(std::unique_ptr<GroupHolder> world, const Result<Options>& options);
}  // namespace detail

/// A handle to a described table. Copyable; valid as long as its stream.
class Particles {
public:
    /// This rank's rows from now on, and where each column lies, in the order of describing; without `columns` only the
    /// number of rows, before begin() or prepare(). Local.
    /// The addresses must stay valid until the save or read that uses them returns. An address says nothing of its
    /// type: with `types`, in the order of the columns, another one than described is `refused`.
    Result<> bind(std::uint64_t rows, std::vector<ColumnData> columns = {}, const std::vector<Type>& types = {});
    std::uint64_t rows() const;

private:
    friend class Stream;
    friend class Restart;
    friend class DirectSave;
    Particles(std::shared_ptr<detail::StreamState> stream, std::uint32_t table);
    std::shared_ptr<detail::StreamState> stream_;
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
    /// The rows this rank gets of a table: its own where the rank counts agree, else a balanced share. 0 for a table
    /// that was described after newest(). Local.
    std::uint64_t rows(const Particles& table) const;
    /// Reads everything described into the described memory: replicated values, the boxes of arrays with
    /// their halos inside the global shape, and rows(table) rows of each table, which must be bound to as many.
    /// Every segment is verified. `corrupt` names the variable; call Stream::older() then for the one before. After an
    /// error the described memory is undefined.
    /// Variables that the snapshot has and the stream does not describe are left alone; one that the stream
    /// describes and the snapshot lacks, or has with another type or shape, is `refused` or `missing`. Collective.
    Result<> read();
    /// The same for some of the described arrays and replicated variables, as often as one likes; they may be described
    /// after newest(). Each call looks at the heads of all node files that hold them. Collective.
    Result<> read(const std::vector<std::string>& variables);

private:
    friend class detail::StreamState;
    Restart(std::shared_ptr<detail::RestartState> state, std::shared_ptr<detail::StreamState> stream)
        : state_(std::move(state)), stream_(std::move(stream)) {}
    std::shared_ptr<detail::RestartState> state_;
    std::shared_ptr<detail::StreamState> stream_;
};

/// A save whose blocks the application writes into the slot itself: no copy, only the checksum pass. Between
/// Stream::begin() and seal(); blocks for which no address was asked are copied by seal() as save() does. The next
/// begin() or save() of the stream and close() give up what was not sealed; it is `refused` from then on.
class DirectSave {
public:
    /// false: the policy skipped the step; there is nothing to write and nothing to seal.
    bool kept() const { return saved_.kept; }
    /// The address of this rank's box number `piece` of an array in the slot, packed row-major, or of a replicated
    /// value on the node's first rank (nullptr on the others). The application must fill all of it. Local.
    Result<void*> block(const std::string& variable, std::size_t piece = 0);
    /// The address of this rank's rows of a column, contiguous. Local.
    Result<void*> column(const Particles& table, std::size_t column);
    /// Checksums, copies the rest, seals. Collective. With kept() false it does nothing.
    Result<Saved> seal();

private:
    friend class Stream;
    DirectSave(std::shared_ptr<detail::StreamState> stream, Saved saved);
    Result<> check_under_way() const;
    std::shared_ptr<detail::StreamState> stream_;
    Saved saved_;
    std::uint64_t number_;
};

/// The type and shape with which a variable that is bound again is compared; one that is not given is not.
struct As {
    std::optional<Type> type = {};
    std::optional<Extents> shape = {};  // of an array the global one
};

/// A named sequence of snapshots under one policy.
class Stream {
public:
    /// A value that is equal on every rank, bit for bit: a save is `refused`, with the ranks and their values, where it
    /// is not. (What a DirectSave writes itself is not compared.) With Replicated::first_rank ranks may differ: what
    /// rank 0 has is what a restart gives to all that describe it so. An empty shape is a scalar. Local.
    Result<> replicated(const std::string& name, Type type, const Extents& shape, void* data,
                        const Attributes& attributes = {}, Replicated which = Replicated::equal);
    template <class T>
    Result<> replicated(const std::string& name, T* value, const Attributes& attributes = {},
                        Replicated which = Replicated::equal) {
        return replicated(name, type_of<T>(), {}, value, attributes, which);
    }

    /// A global array; this rank owns the boxes of `pieces`, perhaps none. Local; boxes of all ranks are checked
    /// against one another by the first save. `coverage` full refuses holes.
    Result<> array(const std::string& name, Type type, const Extents& shape, std::vector<Piece> pieces,
                   const Attributes& attributes = {}, Coverage coverage = Coverage::full);

    /// New boxes or addresses for a described array. Local; boxes that differ from before cost a new layout
    /// at the next save. `refused` where the variable is described otherwise than `as` says, with other dimensions than
    /// the boxes have, or with elements that are larger than their distance in memory.
    Result<> rebind(const std::string& name, std::vector<Piece> pieces, const As& as = {});
    /// A new address for a replicated variable; an address says nothing, so `refused` is what differs from `as`. Local.
    Result<> rebind(const std::string& name, void* data, const As& as = {});
    template <Element T>
    Result<> rebind(const std::string& name, T* data) {
        return rebind(name, data, {.type = type_of<T>()});
    }

    /// Takes an array or a replicated variable out of the description. Local; on every rank alike before the next save.
    Result<> forget(const std::string& name);

    /// A particle table: its columns share their rows; bind() says where they are. Local.
    Result<Particles> particles(const std::string& name, const std::vector<Column>& columns);

    /// Lays the slots out and faults their pages in now, so that the first save costs no more than the others. The
    /// first save does it otherwise. Tables should be bound to about as many rows as they will have. Collective.
    Result<> prepare();

    /// Saves everything described under `step`, from 0 to 2^63 - 2, and equal on every rank, as `time`. Returns when
    /// all is copied and sealed on the node; draining goes on behind. An error of an earlier drain surfaces here, with
    /// what is still safe; the step is then not saved. Collective.
    Result<Saved> save(std::int64_t step, double time = 0);

    /// Begins a save whose blocks the application writes itself; as save() up to the copy. Collective.
    Result<DirectSave> begin(std::int64_t step, double time = 0);

    /// Looks for the newest snapshot that can be read whole: staged copies first, then the target. An empty answer
    /// means that nothing is there: the simulation begins anew. Damaged, marked and incomplete snapshots, and
    /// snapshots of another run, are passed over; each reason goes to Options::log and to notes(). If nothing else is
    /// there, that is an error with all reasons: `corrupt` if anything is damaged, else `refused`. A snapshot that is
    /// there and cannot be read now (permissions, a missing file, an I/O error, a newer format) is an error at once,
    /// even if an older snapshot is whole. After an error the first save is refused until a restart succeeds. With
    /// `below` only steps below it count: newest(0) begins anew, and newest(301) names step 300, which is then taken
    /// even if it is marked. FOREBAY_RESTART and StreamOptions::restart_from bound the steps until the first save.
    /// docs/explanation/lines.md. Collective.
    Result<std::optional<Restart>> newest(std::int64_t below = std::numeric_limits<std::int64_t>::max());
    /// The snapshot before the last answer of newest() or older(). After a read() that failed the answer is never empty
    /// but an error. Collective.
    Result<std::optional<Restart>> older();
    const std::vector<std::string>& notes() const;

    /// Restores the newest snapshot that reads whole, and gives it: newest(), bind and read() in one. If the data of a
    /// snapshot turn out to be damaged, it goes on with the snapshot before. The answer is empty, and the errors are
    /// the same, as those of newest(). `bind` is called with each snapshot before it is read, for tables: bind as many
    /// rows as Restart::rows() says. An error of `bind`, of a variable that does not fit or of storage ends it. After
    /// an error the described memory is undefined: it may hold bytes that failed their checksum. Collective.
    Result<std::optional<Restart>> restore(const std::function<Result<>(Restart&)>& bind = {});

    /// Waits until what was saved is committed, at most `at_most`; the error of a failing drain. Collective.
    Result<> wait_committed(std::chrono::milliseconds at_most);

    Counters counters() const;

private:
    friend class Session;
    explicit Stream(std::shared_ptr<detail::StreamState> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::StreamState> state_;
};

/// One application's use of one run. Several may exist in one process.
class Session {
public:
    /// A session of this process alone. With MPI: forebay/mpi.hpp.
    static Result<Session> open(const Options& options);
    /// The same with what load_options() has answered: its error is this call's.
    static Result<Session> open(const Result<Options>& options);

    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    /// Leaves without waiting, as after a crash: agents finish what is staged. Call close() for a clean end.
    ~Session();

    /// The stream of that name, with options from Options::streams, else the defaults. A stream that is open already is
    /// given again: one description, which both handles share. Collective.
    Result<Stream> stream(const std::string& name);
    /// With these options; `refused` where they differ between ranks, or from those of a stream that is open already.
    /// Collective.
    Result<Stream> stream(const std::string& name, const StreamOptions& options);
    /// The same with what parse_stream_options() has answered: an error of any rank is this call's, on every rank.
    Result<Stream> stream(const std::string& name, const Result<StreamOptions>& options);

    /// Whether this node's agent is draining now. Local, a load from memory.
    bool draining() const;

    /// A directory of this node for small files of any program of the job, which the agent packs into few files of the
    /// run and then removes; `forebay extract RUN` gives them back. Write under a name that begins with a dot, then
    /// rename: what has another name counts as finished. Room is that of the staging directory's file system. close()
    /// takes the directory away: who writes there later is refused by the system, and what could not be packed stays
    /// and is told. Empty when the session is closed. Local.
    std::string spool() const;

    /// Whether to save or to end now: at the end of a step, and agreed by all ranks. Reasons to end are the end of the
    /// job (Options::job: no more is left than `reserve` tells and the longest of the last steps), `forebay
    /// stop RUN`, and `stop_wanted` of any rank, such as a flag that the application's signal handler sets. `forebay
    /// stop --save` only asks for a save. Before the job's limit ends a simulation RUN/.continue is written, for the
    /// script that submits the next job; the first call of a session removes it. Conditions of analyses come this way
    /// too: Job::condition. One maximum of 5 numbers over the world, and a broadcast of a condition that is found; the
    /// first call asks the batch system. Collective.
    Result<Job> job(bool stop_wanted = false);

    /// Waits for the agents (Options::close_wait), releases staging, and reports what could not be committed: which
    /// step, where its staged copy is, the next command. Collective.
    Result<> close();

private:
    friend Result<Session> detail::open_over(std::unique_ptr<detail::GroupHolder> world,
                                             const Result<Options>& options);
    explicit Session(std::shared_ptr<detail::SessionState> state);
    std::shared_ptr<detail::SessionState> state_;
};

}  // namespace forebay
