// Options of sessions and streams, the answer of a save, and the counters. Plain values.
//
// Every member has a default, so that `{.run = "run1"}` compiles without a warning. docs/reference/configuration.md has
// the same options as keys of a file.

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

/// The reaction of a save when every slot of the stream still holds a snapshot without commit.
enum class Policy {
    wait,          // wait until a slot is free, at most Options::stall_wait. The default: no snapshot is lost
    wait_at_most,  // wait at most StreamOptions::wait_max, then skip the step
    skip,          // skip the step at once
    /// Replaces a snapshot that the agent has not begun to drain, else skips the step. With two slots it replaces the
    /// older snapshot, and only if both wait. With one slot it gives up the waiting snapshot before it seals the new
    /// snapshot: a kill in between loses both.
    newest_only,
};

/// The codec of node files on their way to the target; docs/reference/configuration.md, "Compression".
enum class Codec {
    none,       // no compression
    automatic,  // lz4 or zstd, as strong as the time until the next save allows; none if it gains nothing
    lz4,        // by Blosc, lossless
    zstd,       // by Blosc, lossless
    zfp,        // f32 and f64 with Compression::error; other types as with zstd
};

/// The units that Blosc sorts before it compresses.
enum class Shuffle { none, bytes, bits };

struct Compression {
    Codec codec = Codec::none;
    Shuffle shuffle = Shuffle::bytes;
    int level = 0;     // of lz4 and zstd: Blosc's levels 1 to 9; 0: as the time until the next save allows
    double error = 0;  // of zfp: the largest absolute error of a value; 0: lossless
};

/// The layout of names in a view: Forebay's own (plain), or that of a format that other programs read.
enum class Convention { plain, h5part, openpmd, netcdf };

/// The file at the target for a node's bytes; docs/how-to/choose-a-file-form.md.
struct TargetFile {
    enum class Kind {
        own,       // each node has its own file
        combined,  // several nodes share a file: each node file is one part of it
        shared,    // all nodes share one file: it holds each variable once, in its global shape
    };
    Kind kind = Kind::own;
    int nodes = 1;           // of a combined file: the number of nodes, 2 to 256
    bool as_h5part = false;  // of a shared file: its one table has H5Part's names, as in /Step#120/x

    static TargetFile own() { return {}; }
    static TargetFile combined(int nodes) { return {Kind::combined, nodes, false}; }
    static TargetFile shared() { return {Kind::shared, 1, false}; }
    static TargetFile shared_h5part() { return {Kind::shared, 1, true}; }
    friend bool operator==(const TargetFile&, const TargetFile&) = default;
};

/// Reads "own", "combined:16", "shared" or "shared-h5part". Any other word is `refused`.
Result<TargetFile> parse_target_file(const std::string& word);
/// The inverse of parse_target_file().
std::string name_of(const TargetFile& file);

/// The colours of a picture, from the lowest value to the highest. The steps in lightness are even, except for
/// `balance`.
enum class Palette {
    ember,    // black, violet, orange, light yellow
    tide,     // dark blue, green, light yellow
    grey,     // black to white
    balance,  // blue, white, red: for values around 0
};

/// An analysis of the staged copy, made by the agent while the simulation runs. Results are snapshots of the stream
/// "STREAM.NAME". Pictures go into the spool. docs/reference/analyses.md.
struct Analysis {
    enum class Kind {
        statistics,    // of each variable, or of each index along `by`: minimum, maximum, mean, variance, sum, counts
        histogram,     // of each variable
        histogram_2d,  // of two variables: x, y
        slice,         // of each array: the plane at index `at` of dimension `axis`
        projection,    // of each array: the sum along dimension `axis`
        downsample,    // of each array: means over boxes of `factor` elements along each dimension
        probe,         // of each array: values at `points`
        density,       // of particles (x, y, z, perhaps a weight): the sum of weights in each cell of a plane
        spectrum,      // of each 3-D array: the power spectrum, by shells
        halos,         // of particles (x, y, z, perhaps vx, vy, vz, perhaps a mass): friends of friends
        script,        // the results of the functions of a Python script
    };
    /// The reaction when a snapshot fulfils a condition.
    enum class Action {
        mark,  // mark the snapshot: it does not count as good, and restarts skip it
        save,  // Session::job() asks for a save at the next step
        stop,  // Session::job() asks to save and end
        tell,  // Session::job() returns the condition and the value, and asks for nothing
    };
    std::string name = {};
    Kind kind = Kind::statistics;
    std::vector<std::string> variables = {};                 // names, or patterns with `*`, in the order of `kind`
    std::int64_t every = 1;                                  // analyse steps divisible by this number
    int bins = 256;                                          // of a histogram, along each axis
    double low = std::numeric_limits<double>::quiet_NaN();   // of bins and colours; NaN: from the data
    double high = std::numeric_limits<double>::quiet_NaN();  // of bins and colours; NaN: from the data
    bool log = false;                                        // bins and colours by the logarithm
    int axis = 0;          // the dimension that a slice cuts, and that a projection and a density sum over
    int by = -1;           // statistics for each index of this dimension; -1: over the whole variable
    std::int64_t at = -1;  // the index of a slice; -1: the middle
    int factor = 4;        // of a downsample
    std::vector<std::vector<std::int64_t>> points = {};  // of a probe: an index for each dimension
    /// The lengths of the domain in the unit of the positions: one number for each dimension, or one for all. Positions
    /// run from 0 and are periodic. Density and halos need it. Without it a spectrum has wave numbers of the domain.
    std::vector<double> length = {};
    int pixels = 1024;            // the longer side of the plane, at most; the cells of a density along its longer side
    double linking_length = 0.2;  // of halos, in mean distances between particles
    int members = 20;             // of a halo, at least
    bool picture = true;          // draw a picture of a slice, projection or density
    Palette palette = Palette::ember;
    std::string script = {};  // the script's file; each of its functions declares its variables
    std::string python = {};  // the Python interpreter; "": beside the package, else python3 in PATH
    std::chrono::milliseconds time_limit{60'000};  // for each call of a function, and for the import of the script
    std::int64_t memory_limit_bytes = 4ll << 30;   // of memory that the script allocates; 0: no limit
    std::vector<std::string> condition = {};       // on the results, as in "*/nan > 0"; each is checked by itself
    std::vector<Action> action = {Action::mark};
};

/// The behaviour of a restart for a snapshot marked as bad, by an analysis or by a person.
enum class Marked { pass_over, take };

/// Options of a stream. Equal on every rank, else Session::stream() refuses them.
struct StreamOptions {
    int slots = 1;  // 1, or 2 to save while the step before still drains
    Policy policy = Policy::wait;
    std::chrono::milliseconds wait_max{10'000};  // for Policy::wait_at_most
    int keep = 3;                                // committed snapshots to keep at the target; 0 keeps all
    /// The number of newest snapshots to keep of those that the run abandoned by going back or beginning anew. -1: all
    /// of them, until the run has saved `keep` whole, unmarked snapshots since. docs/explanation/lines.md.
    int keep_abandoned = -1;
    bool view = true;  // make views at commit, if the agent can: `conventions`
    Compression compression = {};
    /// Compression of single variables, by name or by a pattern with `*`. The first match counts.
    std::vector<std::pair<std::string, Compression>> variable_compression = {};
    int priority = 0;  // of drains: the higher priority goes first, and overtakes a drain under way
    std::chrono::milliseconds deadline{0};    // time from the seal until the snapshot should be durable; 0: none
    std::uint64_t rate_bytes_per_second = 0;  // a limit for drains, below the limit of the agent; 0: none
    std::vector<Convention> conventions = {Convention::plain};  // the views to make at commit
    TargetFile file = {};               // the file at the target; files of several nodes are not compressed
    std::vector<Analysis> insitu = {};  // analyses by the agent, beside the simulation
    Marked marked = Marked::pass_over;
    /// The next restart begins at or below this step, once. After the run has gone back so, sessions continue from
    /// their newest snapshot again. -1: begin at the newest. docs/explanation/lines.md.
    std::int64_t restart_from = -1;
};

enum class AgentMode {
    process,    // outlives the application; has its own environment; makes views
    thread,     // inside the application, for machines that allow no second process
    dedicated,  // ranks of the application that only drain: forebay::dedicate() in mpi.hpp splits them off
};

/// Direct writes bypass the page cache of the agent's machine, if the target supports it. `automatic`: once a session
/// each agent measures the faster way at the target, and if programs on its machine see data written past the cache.
/// Until a node file of 16 MiB, enough to matter, it writes past the cache.
enum class Direct { no, yes, automatic };

struct AgentOptions {
    AgentMode mode = AgentMode::process;
    std::string program = {};  // "": FOREBAY_AGENT, else `forebay` beside the library or in ../bin, else in PATH
    std::vector<std::pair<std::string, std::string>> environment = {};  // only for the agent, such as LD_PRELOAD
    int cores = 1;                                                      // of each machine, for AgentMode::dedicated
    std::string cpus = {};                    // pin the agent, as in "0-3,8"; "": the kernel chooses
    std::uint64_t block_bytes = 16u << 20;    // the size of one write; best a multiple of the target's stripe
    int in_flight = 4;                        // writes at once, and threads that compress
    std::uint64_t rate_bytes_per_second = 0;  // a limit; 0: as fast as the target takes it
    double slowdown_percent_max = 0;          // how much a drain may slow the computing down; 0: no limit
    Direct direct = Direct::yes;              // write past the page cache, if the target can
    int retries = 5;                          // of a failing operation; each pause is twice the pause before
    std::chrono::milliseconds retry_pause{200};
    /// How long the agent keeps the staged copies after its application has died and everything is committed. A restart
    /// on the same node reads them at the speed of memory. Then the agent frees them.
    std::chrono::milliseconds linger{60'000};
    /// Keep the timings of saves and drains in the run, at most 64 KiB a node and snapshot, for `forebay report`.
    bool timings = true;
    /// An existing directory of the machine in which each agent keeps a file of metrics while it lives, for a monitor
    /// such as node-exporter's textfile collector. "": none.
    std::string metrics_directory = {};
    /// The storage targets for node files, used in turns, as in "0-13,15-155". Only on a file system that lets users
    /// choose (Lustre). "": the file system chooses.
    std::string storage_targets = {};
    /// Storage targets to avoid for new node files, as in "14,OST0015", or "@FILE" with the list from `forebay
    /// preflight`. The first rank of each node reads the file when the session opens.
    std::string exclude_targets = {};
    /// Place new node files away from a storage target that the agent has found slow.
    bool avoid_slow_targets = true;
    /// Hosts that must not write node files to the target, as in "nid[0001-0004],nid7", or "@FILE" with the list from
    /// `forebay preflight`. The first rank of each node reads the file when the session opens. Other hosts of the job
    /// write for them. "nid7/2" is a virtual node.
    std::string exclude_nodes = {};
    /// The number of agents of this job that also write for excluded or slow nodes. 0: two if `exclude_nodes` has a
    /// host of the job, else none.
    int neighbours = 0;
    /// A node that drains far slower than the other nodes writes through a neighbour. Without neighbours every node
    /// writes itself.
    bool avoid_slow_nodes = true;
    // Forwarders: hosts that write to the target for the other hosts, so that the target has fewer clients. Either the
    // last hosts of this job, which then compute nothing (forebay::dedicate() in mpi.hpp), or running forwarders
    // (`forebay forward`).
    int forwarders = 0;
    std::string forward_address = {};          // the interface or address of `forwarders` for their clients; "": any
    std::vector<std::string> forward_to = {};  // "host:port"; each agent begins at another entry
    std::string forward_token_file = {};       // with `forward_to`: the file with the token that admits a client
};

/// The time for Session::job() to tell a simulation to end.
struct JobOptions {
    /// The job's length, counted from open(). 0: from FOREBAY_JOB_END (seconds since 1970), else from SLURM, else from
    /// PBS.
    std::chrono::milliseconds wall_time{0};
    /// Time to leave for saving, draining and ending, beside the longest of the last ten steps. If it is set: this time
    /// and the mean time of a drain. 0: 10 s, the rest of drains under way, and for each stream (1.25 + 1 / n) times
    /// the longest time from save to durable of its n saves in this job. While a stream has no such save, 25 s and the
    /// mean time of a drain come on top.
    std::chrono::milliseconds reserve{0};
};

/// Options of a session. Equal on every rank, else open() refuses them. The options of a node may differ: `staging`,
/// and in `agent` `program`, `environment`, `cpus`, `metrics_directory`, `forward_address` and `forward_token_file`.
/// Each rank may have its own `log` and `interrupted`.
struct Options {
    /// The run's directory at the target, or "s3://bucket/prefix". A session creates it. The directory above it must
    /// exist, unless `create_parents` is set.
    std::string run = {};
    bool create_parents = false;  // create the directories above `run` too
    std::string staging = {};     // a node-local directory; "": /dev/shm
    int virtual_nodes = 1;        // parts of each machine's ranks, each with its own agent
    bool huge_pages = true;       // align for huge pages, if the staging mount has them
    AgentOptions agent = {};
    JobOptions job = {};
    std::chrono::milliseconds open_wait{60'000};  // the longest wait of open() for an answer of the target
    /// The time to watch a session of another host that has locked the run and not ended, before it counts as dead. The
    /// new session then takes over the run. 0: at once, if your batch system never runs two jobs of one run.
    std::chrono::milliseconds takeover_wait{20'000};
    std::chrono::milliseconds close_wait{600'000};   // the longest wait of close() for the agents
    std::chrono::milliseconds stall_wait{600'000};   // the longest wait of a save while the agent gets nothing done
    std::uint64_t restart_window_bytes = 16u << 20;  // memory of a node for reading snapshots from the target
    /// Threads of each rank that copy a save, and a restart from staged copies. The calling thread counts. The threads
    /// sleep between two copies, call neither MPI nor your code, and do not change the bytes. 0, or "auto" in a file:
    /// one for each CPU that no other rank of the machine may use, but no more than make the copy faster, as measured
    /// when the session opens. It is 1 if ranks are not bound to their own CPUs.
    int copy_threads = 0;
    /// Called on world rank 0 with one line. A waiting call logs its reason after 2 s, then every 30 s. Without it only
    /// two events are printed, to standard error: a restart that skips a damaged snapshot, and staged snapshots of
    /// another run that open() finds on a node.
    std::function<void(const std::string&)> log = {};
    /// Called ten times a second by a call that waits, on the thread that made the call. You may set it on some ranks
    /// only. If it returns true, the call ends on all ranks with an error of kind `retry`. Staged snapshots stay, and
    /// agents continue. A rank that waits in MPI for other ranks does not call it.
    std::function<bool()> interrupted = {};
    std::vector<std::pair<std::string, StreamOptions>> streams = {};  // by name; stream() looks here first
    /// The path of a profile measured by `forebay tune`. "auto": the best match of the profiles in ./.forebay, the
    /// user's configuration directory and /etc/forebay/profiles. "": none. It sets the options that differ from their
    /// default neither in code nor in a file, and all ranks use the profile that rank 0 reads. `log` gets these
    /// options, and a warning if saves or drains become slower than in the profile. docs/how-to/tune.md.
    std::string profile = {};
    std::vector<std::string> in_file = {};  // options that load_options() found, as in "agent.block_bytes"
    std::string run_in_file = {};  // the `run` that load_options() found; open() refuses a different `run` set in code
    bool log_to_stderr = false;    // if `log` is empty, send its lines to standard error, as FOREBAY_LOG=1 does
};

/// The answer of one save. Equal on all ranks, except `bytes` and the seconds.
struct Saved {
    std::int64_t step = 0;
    bool kept = false;           // false: the policy skipped the step, and nothing was staged
    std::int64_t replaced = -1;  // newest_only: the step dropped for this save
    std::uint64_t bytes = 0;     // of this rank
    double blocked_seconds = 0;  // the whole call
    double wait_seconds = 0;     // part of it: waiting for a free slot
    double plan_seconds = 0;     // part of it: layout or patch, and seal, without exchange and barriers
    double copy_seconds = 0;     // part of it: copying and checksumming this rank's blocks
};

/// The agreement of all ranks at the end of a step, from Session::job(). Equal on all ranks.
struct Job {
    bool save = false;                                              // save now
    bool stop = false;                                              // save now, then end; `save` is true too
    double seconds_left = std::numeric_limits<double>::infinity();  // of the job; infinite if no limit is known
    std::string reason = {};                                        // why, if `save` is true
    /// A fulfilled condition of an analysis with the action `save`, `stop` or `tell`. Each is returned once, at the
    /// next step after the analysis found it, one a step, the most urgent first. Empty: none. An example:
    /// "state.numbers: */nan > 0 (theta/nan is 3), at step 120".
    std::string condition = {};
    double value = std::numeric_limits<double>::quiet_NaN();  // the value that fulfils it
    std::int64_t condition_step = -1;                         // the step of the snapshot that fulfils it
};

/// Totals since the session was opened. Three of them show how a run does: `blocked_seconds` (the cost of saving for
/// the simulation), `newest_durable_step` (the step at which a restart would begin) and `aborts` (failures of storage).
/// Use the rest for tuning.
struct Counters {
    std::uint64_t saves = 0;                // kept by the policy
    std::uint64_t skipped = 0;              // skipped by the policy
    std::uint64_t replaced = 0;             // dropped by newest_only before their drain began
    std::uint64_t commits = 0;              // committed snapshots of this session
    std::uint64_t aborts = 0;               // failed drains (a retry may commit the snapshot later)
    std::uint64_t bytes_saved = 0;          // by this rank
    std::uint64_t bytes_drained = 0;        // by this node's agent, as staged
    std::uint64_t bytes_stored = 0;         // by this node's agent, as written: fewer with compression
    double blocked_seconds = 0;             // of this rank, in save()
    double wait_seconds = 0;                // part of it: waiting for free slots
    std::uint64_t copy_threads = 0;         // threads of this rank that copied its last save: Options::copy_threads
    double drain_seconds = 0;               // of this node's agent, writing and syncing
    double drain_cpu_seconds = 0;           // CPU time of it on this node, user and system, summed over threads
    std::int64_t newest_durable_step = -1;  // committed, in this run's stream; -1: none
    std::uint64_t deadlines_missed = 0;     // snapshots of this stream that were not durable by their deadline
    std::uint64_t not_analysed = 0;         // snapshots of this stream, on this node, that its analyses missed
    std::uint64_t scripts_missed = 0;       // snapshots of this stream, on this node, that its scripts missed
    std::uint64_t overtakes = 0;            // drains of this node that overtook a drain under way
    std::uint64_t limits_overruled = 0;     // drains that ignored slowdown_percent_max to end in time
    std::uint64_t steps_counted = 0;        // steps of the computing, used for slowdown_percent
    double slowdown_percent = 0;            // of the computing on this node while its agent drains; 0 also: unknown
    std::uint64_t drain_rate_bytes_per_second = 0;  // the limit now; 0: none
};

}  // namespace forebay
