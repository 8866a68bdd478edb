// Options of snapshots, the answer of a save, and the counters. Plain values.
//
// Members without another default are given an empty one, so that `{.run = "run1"}` compiles without a warning.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay {

/// The choice of a save when every slot of the stream still holds a snapshot that is not committed.
enum class Policy {
    wait,          // until a slot is free (Options::stall_wait bounds it); the default, nothing is ever lost
    wait_at_most,  // StreamOptions::wait_max, then skip
    skip,          // at once
    newest_only,   // replace a snapshot that the agent has not begun to drain: with two slots the older of two that
                   // wait; else skip. With one slot the waiting one is given up before the new one is sealed: a kill in
                   // between loses both
};

/// The codec by which the agent makes node files smaller on their way to the target; docs/reference/configuration.md,
/// "Compression".
enum class Codec {
    none,       // the bytes as they are
    automatic,  // lz4 or zstd, as hard as the time until the next save allows; not at all where that gains nothing
    lz4,        // by Blosc, without loss
    zstd,       // by Blosc, without loss
    zfp,        // f32 and f64 within Compression::error; other types as zstd
};

/// The units that Blosc sorts before it compresses.
enum class Shuffle { none, bytes, bits };

struct Compression {
    Codec codec = Codec::none;
    Shuffle shuffle = Shuffle::bytes;
    int level = 0;     // of lz4 and zstd, 1 to 9 as Blosc counts; 0: as the time until the next save allows
    double error = 0;  // of zfp: the largest absolute error of a value; 0: without loss
};

/// In whose words a view is: Forebay's own, or those of a format that other programs know.
enum class Convention { plain, h5part, openpmd, netcdf };

/// In which file at the target a node's bytes lie; docs/how-to/choose-a-file-form.md and storage-forms.md.
struct TargetFile {
    enum class Kind {
        own,       // each node has a file of its own
        combined,  // so many nodes have one, each with its whole node file in a part of it
        shared,    // all nodes have one, which holds each variable once, in its global shape
    };
    Kind kind = Kind::own;
    int nodes = 1;           // of a combined file, 2 to 256
    bool as_h5part = false;  // of a shared file: the columns of its one table have H5Part's names, as in /Step#120/x

    static TargetFile own() { return {}; }
    static TargetFile combined(int nodes) { return {Kind::combined, nodes, false}; }
    static TargetFile shared() { return {Kind::shared, 1, false}; }
    static TargetFile shared_h5part() { return {Kind::shared, 1, true}; }
    friend bool operator==(const TargetFile&, const TargetFile&) = default;
};

/// From the word of the configuration: "own", "combined:16", "shared" or "shared-h5part"; `refused` for another.
Result<TargetFile> parse_target_file(const std::string& word);
/// The inverse.
std::string name_of(const TargetFile& file);

/// The colours of a picture, from the lowest value to the highest; of even steps in lightness but for `balance`.
enum class Palette {
    ember,    // black, violet, orange, light yellow
    tide,     // dark blue, green, light yellow
    grey,     // black to white
    balance,  // blue, white, red: for values around 0
};

/// An analysis that the agent makes of snapshots, from the staged copy, beside the simulation. Its results are
/// snapshots of the stream "STREAM.NAME", pictures go through the spool. docs/reference/analyses.md.
struct Analysis {
    enum class Kind {
        statistics,    // of each variable, or of each index along `by`: smallest, largest, mean, variance, sum, counts
        histogram,     // of each variable
        histogram_2d,  // of two variables: x, y
        slice,         // of each array: a plane at `at` of dimension `axis`
        projection,    // of each array: the sum along dimension `axis`
        downsample,    // of each array: means of boxes of `factor` elements a dimension
        probe,         // of each array: values at `points`
        density,       // of particles: x, y, z and perhaps a weight; the sum of weights over a plane's cells
        spectrum,      // of each 3-D array: the power spectrum, by shells
        halos,         // of particles: x, y, z, perhaps vx, vy, vz, perhaps then a mass; friends of friends
        script,        // what the functions of a Python script make: docs/reference/analyses.md
    };
    /// What becomes of a snapshot that fulfils a condition.
    enum class Action {
        mark,  // it is marked: it does not count as a good one, and restarts pass over it
        save,  // Session::job() asks for a save at the next step
        stop,  // Session::job() asks to save and end
        tell,  // Session::job() gives condition and value, and asks for nothing
    };
    std::string name = {};
    Kind kind = Kind::statistics;
    std::vector<std::string> variables = {};  // names, or patterns with `*`; in the order that `kind` says
    std::int64_t every = 1;                   // steps that it divides
    int bins = 256;                           // of a histogram, along each axis
    double low = std::numeric_limits<double>::quiet_NaN();   // of bins and colours; NaN: found
    double high = std::numeric_limits<double>::quiet_NaN();  // of bins and colours; NaN: found
    bool log = false;                                        // bins, and colours, by the logarithm
    int axis = 0;          // the dimension along which a slice is cut; a projection and a density are summed
    int by = -1;           // the dimension along which statistics are each index's own; -1: of all together
    std::int64_t at = -1;  // the index of a slice; -1: the middle
    int factor = 4;        // of a downsample
    std::vector<std::vector<std::int64_t>> points = {};  // of a probe: an index a dimension
    /// The lengths of the domain, one for every dimension or one for all, in the unit of the positions; positions run
    /// from 0 and are periodic. Needed by density and halos; a spectrum without it is by wave numbers of the domain.
    std::vector<double> length = {};
    int pixels = 1024;            // of the longer side of a picture, at most; cells of a density along the longer side
    double linking_length = 0.2;  // of halos, in mean distances between particles
    int members = 20;             // of a halo, at least
    bool picture = true;          // of slice, projection and density
    Palette palette = Palette::ember;
    std::string script = {};                       // the file; each of its functions says what it looks at
    std::string python = {};                       // its interpreter; "": beside the package, else python3 in PATH
    std::chrono::milliseconds time_limit{60'000};  // of a call of a function, and of the script's import
    std::int64_t memory_limit_bytes = 4ll << 30;   // that a script may have allocated; 0: no limit
    std::vector<std::string> condition = {};       // over the results: "*/nan > 0"; each is by itself
    std::vector<Action> action = {Action::mark};
};

/// What a restart does with a snapshot that is marked: an analysis has found it bad, or a person.
enum class Marked { pass_over, take };

/// Equal on every rank, else Session::stream() refuses them.
struct StreamOptions {
    int slots = 1;  // 1, or 2 to save while the step before still drains
    Policy policy = Policy::wait;
    std::chrono::milliseconds wait_max{10'000};  // for Policy::wait_at_most
    int keep = 3;                                // committed snapshots that stay at the target; 0 keeps all
    /// The number of newest snapshots that stay of those that the run has abandoned by going back or beginning anew.
    /// -1: all of them, until the run has saved `keep` whole, unmarked snapshots after it left them.
    /// docs/explanation/lines.md.
    int keep_abandoned = -1;
    bool view = true;  // make views at commit, when the agent can: `conventions`
    Compression compression = {};
    /// Of single variables, by name or by a pattern with `*`; the first that fits counts.
    std::vector<std::pair<std::string, Compression>> variable_compression = {};
    int priority = 0;                         // of its drains: a higher one goes first, and overtakes
    std::chrono::milliseconds deadline{0};    // a snapshot is to be durable so long after its seal; 0: none
    std::uint64_t rate_bytes_per_second = 0;  // of its drains, where that is less than the agent's; 0: the agent's
    std::vector<Convention> conventions = {Convention::plain};  // of the views at commit
    TargetFile file = {};                                       // at the target; of several nodes: not compressed
    std::vector<Analysis> insitu = {};  // what the agent makes of its snapshots, beside the simulation
    Marked marked = Marked::pass_over;
    /// The step at or below which the next restart begins, once: when the run has gone back so, sessions go on from
    /// their newest snapshot again. -1: at the newest. docs/explanation/lines.md.
    std::int64_t restart_from = -1;
};

enum class AgentMode {
    process,    // outlives the application; own environment; makes views
    thread,     // inside the application, for machines that allow no second process
    dedicated,  // ranks of the application that do nothing else: forebay::dedicate() in mpi.hpp splits them off
};

/// Whether agents write past the page cache of their machine, where the target can. `automatic`: each measures once a
/// session which way is faster at the target, and whether programs on its machine see what is written past the cache;
/// it writes past the cache until a node file is large enough for that to matter, 16 MiB.
enum class Direct { no, yes, automatic };

struct AgentOptions {
    AgentMode mode = AgentMode::process;
    std::string program = {};  // "" : FOREBAY_AGENT, else `forebay` beside the library or ../bin, else in PATH
    std::vector<std::pair<std::string, std::string>> environment = {};  // for the agent alone, e.g. LD_PRELOAD
    int cores = 1;                                                      // of each machine, for AgentMode::dedicated
    std::string cpus = {};                    // pin the agent, as in "0-3,8"; "" leaves it to the kernel
    std::uint64_t block_bytes = 16u << 20;    // of one write; a multiple of the target's stripe is best
    int in_flight = 4;                        // writes at once, and threads that compress
    std::uint64_t rate_bytes_per_second = 0;  // 0: as fast as the target takes it
    double slowdown_percent_max = 0;          // of the computing while it drains; 0: no limit
    Direct direct = Direct::yes;              // past the page cache where the target can
    int retries = 5;                          // of a failing operation, with doubling pauses
    std::chrono::milliseconds retry_pause{200};
    /// When its application has died and all is committed, the agent keeps the staged copies so long, since a restart
    /// on the same node reads them at the speed of memory; then it frees them.
    std::chrono::milliseconds linger{60'000};
    /// Whether the run keeps what saves and drains took, at most 64 KiB a node and snapshot, for `forebay report`.
    bool timings = true;
    /// Where each agent keeps a file of metrics for a monitor of its machine, such as node-exporter's textfile
    /// collector, as long as it lives. A directory of the machine that is there already; "": none.
    std::string metrics_directory = {};
    /// On a file system that lets users choose (Lustre): the storage targets on which node files lie, in turns, as in
    /// "0-13,15-155"; "": as the file system places them.
    std::string storage_targets = {};
    /// Storage targets on which no new node file lies: "14,OST0015", or "@FILE" with what forebay preflight has found;
    /// the first rank of each node reads it when the session opens.
    std::string exclude_targets = {};
    /// Whether an agent places new node files elsewhere than on a storage target that it has found slow.
    bool avoid_slow_targets = true;
    /// Hosts that write no node file to the target themselves, as in "nid[0001-0004],nid7", or "@FILE" with what
    /// forebay preflight has found, which the first rank of each node reads when the session opens. Others of the job
    /// write for them. "nid7/2" is a virtual node.
    std::string exclude_nodes = {};
    /// How many agents of this job also write for nodes that are excluded or slow. 0: two where `exclude_nodes` names a
    /// host of the job, else none.
    int neighbours = 0;
    /// Whether a node that drains far slower than the others writes through a neighbour. Without neighbours no node
    /// does.
    bool avoid_slow_nodes = true;
    // Hosts that write to the target for the others, so that not every host is its client. Either the last ones of this
    // job, which compute nothing (forebay::dedicate() in mpi.hpp), or such as run already (forebay forward).
    int forwarders = 0;
    std::string forward_address = {};  // of `forwarders`: interface or address that others reach them by; "": any
    std::vector<std::string> forward_to = {};  // "host:port"; each agent begins with another, the next ones stand in
    std::string forward_token_file = {};       // of `forward_to`: what admits to them
};

/// When Session::job() tells a simulation to end.
struct JobOptions {
    /// From open() on; 0: what FOREBAY_JOB_END says (seconds since 1970), else SLURM, else PBS.
    std::chrono::milliseconds wall_time{0};
    /// What must be left for saving, draining and ending, beside the longest of the last ten steps. 0: 10 s, and for
    /// each stream what its longest save in this job took until it was durable, 1.25 + 1 / n times after n of them,
    /// behind what is under way; 25 s and the mean drain more while a stream has none. Else this and the mean drain.
    std::chrono::milliseconds reserve{0};
};

/// Equal on every rank, else open() refuses them; but for what belongs to a node: `staging`, and of `agent` `program`,
/// `environment`, `cpus`, `metrics_directory`, `forward_address` and `forward_token_file`. Each rank may have
/// its own `log` and `interrupted`.
struct Options {
    /// The directory at the target, or "s3://bucket/prefix". It is made if it does not exist; the directory above it
    /// must exist, unless `create_parents`.
    std::string run = {};
    bool create_parents = false;  // make the directories above `run` too
    std::string staging = {};     // "" : /dev/shm; a node-local directory
    int virtual_nodes = 1;        // parts that each machine's ranks are split into, each with its own agent
    bool huge_pages = true;       // align for them where the staging mount has them
    AgentOptions agent = {};
    JobOptions job = {};
    std::chrono::milliseconds open_wait{60'000};  // opening waits at most so long for the target's answer
    /// A session of another host that has claimed the run and not ended is watched so long before it counts as dead and
    /// the run is taken over. 0: at once, where the batch system is sure that no two jobs of a run live.
    std::chrono::milliseconds takeover_wait{20'000};
    std::chrono::milliseconds close_wait{600'000};   // close() waits at most so long for the agents
    std::chrono::milliseconds stall_wait{600'000};   // a save, for an agent that gets nothing done (dead target)
    std::uint64_t restart_window_bytes = 16u << 20;  // memory of a node to read snapshots from the target
    /// Threads of each rank that copy what it saves, and what it gets back of a staged copy; the calling one counts.
    /// They sleep between two copies, call neither MPI nor the application, and do not change a byte of what is
    /// written. 0, "auto" in a file: one for each CPU that no other rank of the machine may use, but no more than
    /// memory is fast for, as measured at opening; 1 where ranks are not bound to CPUs of their own.
    int copy_threads = 0;
    /// Called on world rank 0 with one line. Without it one thing is printed, to standard error: that a restart has
    /// passed over a damaged snapshot. What a call waits for is said after 2 s, and again every 30 s.
    std::function<void(const std::string&)> log = {};
    /// Asked ten times a second by a call that waits, on the thread that made the call; it may be set on some ranks
    /// only. When it returns true, the wait ends and the call is an error of kind `retry`, on all ranks. What is staged
    /// is kept, and agents go on. Only the rank that waits asks: a rank that waits for other ranks in MPI does not.
    std::function<bool()> interrupted = {};
    std::vector<std::pair<std::string, StreamOptions>> streams = {};  // by name; stream() looks here first
    /// A profile that `forebay tune` has measured: its path; "auto": the one that fits best of those in ./.forebay, the
    /// user's configuration directory and /etc/forebay/profiles; "": none. Options that are not set, by a value other
    /// than the default or in the file, are taken from it, on all ranks what rank 0 reads, and told to `log`; it is
    /// told as well when saves or drains have become slower than it says. docs/how-to/tune.md.
    std::string profile = {};
    std::vector<std::string> in_file = {};  // options that load_options() has found, as in "agent.block_bytes"
    std::string run_in_file = {};  // the `run` that load_options() has found; open() refuses another one in code
    bool log_to_stderr = false;    // lines for `log` where that is empty; FOREBAY_LOG=1 in the environment does it too
};

/// The answer of one save. Equal on all ranks but for the seconds.
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

/// The agreement of all ranks at the end of a step: Session::job(). Equal on all ranks.
struct Job {
    bool save = false;                                              // save now
    bool stop = false;                                              // save now, then end; `save` is true too
    double seconds_left = std::numeric_limits<double>::infinity();  // infinite where no limit is known
    std::string reason = {};                                        // why, where save is true
    /// A condition of an analysis whose action is `save`, `stop` or `tell`, given at the next step after it was found
    /// fulfilled, once; of several the most urgent first, one a step. Empty: none. As in
    /// "state.numbers: */nan > 0 (theta/nan is 3), at step 120".
    std::string condition = {};
    double value = std::numeric_limits<double>::quiet_NaN();  // that fulfils it
    std::int64_t condition_step = -1;                         // of the snapshot that does
};

/// Totals since the session was opened. Three tell how a run does: `blocked_seconds` (what saving has cost the
/// simulation), `newest_durable_step` (where a restart would begin) and `aborts` (whether storage has failed). The
/// others are for tuning.
struct Counters {
    std::uint64_t saves = 0;          // kept
    std::uint64_t skipped = 0;        // by policy
    std::uint64_t replaced = 0;       // dropped by newest_only before their drain began
    std::uint64_t commits = 0;        // snapshots of this session that are committed
    std::uint64_t aborts = 0;         // drains that ended with an error (each may be retried and commit later)
    std::uint64_t bytes_saved = 0;    // by this rank
    std::uint64_t bytes_drained = 0;  // by this node's agent, as they were staged
    std::uint64_t bytes_stored = 0;   // of them, what was written: fewer where they were compressed
    double blocked_seconds = 0;       // this rank's, in save()
    double wait_seconds = 0;          // of it, for free slots
    std::uint64_t copy_threads = 0;   // of this rank, that copied its last save: Options::copy_threads
    double drain_seconds = 0;         // this node's agent's, writing and syncing
    double drain_cpu_seconds = 0;     // what this took of the node's CPUs, user and system: of all threads the sum
    std::int64_t newest_durable_step = -1;  // committed, in this run's stream; -1: none
    std::uint64_t deadlines_missed = 0;     // snapshots of this stream that were not durable by their deadline
    std::uint64_t not_analysed = 0;      // snapshots of this stream, on this node, that insitu was to see and did not
    std::uint64_t scripts_missed = 0;    // likewise, of its scripts
    std::uint64_t overtakes = 0;         // drains of this node that went before one under way
    std::uint64_t limits_overruled = 0;  // drains that kept no slowdown_percent_max, so as to end in time
    std::uint64_t steps_counted = 0;     // of the computing, for the next
    double slowdown_percent = 0;         // of the computing on this node while its agent drains; 0 also: not known
    std::uint64_t drain_rate_bytes_per_second = 0;  // the limit now; 0: none
};

}  // namespace forebay
