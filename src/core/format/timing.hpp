// Timings: the begin, duration and bytes of a part of a save, drain or commit, 24 bytes each. An agent keeps them in
// the run as one batch for each snapshot of its node. Bytes: docs/formats/timings.md.
//
// Life: a rank or an agent puts Timings into its ring (node/timing_ring.hpp) -> the agent collects the timings of a
// snapshot in a TimingBatch and appends it to RUN/forebay/timings-HOST-N.bin -> telemetry reads all these files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::format {

/// The kind of a timing, with its number in the file. Readers skip unknown numbers.
enum class TimingKind : std::uint16_t {
    // Of a rank, in a save. The next four kinds lie within `save`, one after the other without a gap.
    save = 1,   // the whole call; KiB: of this rank's data
    wait = 2,   // for a free slot, on any node
    plan = 3,   // layout or its changes, and the seal
    copy = 4,   // copying and checksumming, also writes of the application into the slot; KiB: of this rank's data
    agree = 5,  // waiting for other ranks to come, to agree and to copy
    // Of an agent. `target` is set if bytes were written.
    drain = 16,  // of the node file: from the first write to the name, without the drains that overtook it
    write = 17,  // one write of one thread
    sync = 18,
    commit = 19,     // from this node's last step to the manifest, or until the agent sees another agent's manifest
    retention = 20,  // removal of older snapshots
    view = 21,
    retry = 22,     // from a failed attempt to the begin of the next
    analysis = 23,  // of an operator or a script
};
/// Returns for example "write", or "" for an unknown number.
const char* name_of(TimingKind kind);

inline constexpr std::uint16_t no_target = 0xffff;

/// The bits of Timing::flags: source, number of merged timings, and error.
inline constexpr std::uint32_t timing_source_mask = 0xffff;  // rank of the node, or agent_source
inline constexpr std::uint32_t agent_source = 0xffff;
inline constexpr std::uint32_t timing_merged_shift = 16, timing_merged_max = 0x7fff;  // number of further timings in it
inline constexpr std::uint32_t timing_failed = 1u << 31;

struct Timing {
    std::uint64_t start_unix_ns = 0;   // realtime at the begin of the process, plus its monotonic clock
    std::uint32_t duration_us = 0;     // 4294967295: this long or longer
    std::uint32_t kib = 0;             // rounded up; 4294967295: as many or more
    std::uint16_t target = no_target;  // index into TimingBatch::targets
    std::uint16_t kind = 0;
    std::uint32_t flags = 0;

    std::uint64_t end_unix_ns() const { return start_unix_ns + std::uint64_t{duration_us} * 1000; }
    double seconds() const { return duration_us * 1e-6; }
    std::uint64_t bytes() const { return std::uint64_t{kib} << 10; }
    friend bool operator==(const Timing&, const Timing&) = default;
};
static_assert(sizeof(Timing) == 24);

/// A storage target that got a node's bytes of a snapshot: an OST ("OST0014") if the layout of the file shows it, else
/// the whole target ("").
struct TimingTarget {
    std::string name;
    std::uint64_t bytes = 0;
    double busy_seconds = 0;  // sum over its writes; more than the elapsed time if writes run concurrently
    std::uint64_t writes = 0;
    std::int64_t first_unix_ns = 0;  // begin of its first write
    std::int64_t last_unix_ns = 0;   // end of its last write, before any sync and any wait for others
};

/// The parts of a save's time, on the rank of a node that was blocked longest. Their sum is blocked_seconds.
struct BlockedParts {
    double copy_seconds = 0, layout_seconds = 0;
    double ranks_seconds = 0;  // waiting for other ranks
    double slot_seconds = 0;   // waiting for a slot
    double sum() const { return copy_seconds + layout_seconds + ranks_seconds + slot_seconds; }
    friend bool operator==(const BlockedParts&, const BlockedParts&) = default;
};

/// One snapshot as one node has seen it. Each time of ranks is the time of the slowest rank of the node, except
/// blocked_parts.
struct TimingBatch {
    std::string host, virtual_node;        // "nid00412", "0": together they identify a node
    std::string agent;                     // "process", "thread", "rank", "drain" (the command)
    std::int64_t agent_began_unix_ns = 0;  // 0: unknown
    std::string stream;
    std::int64_t step = -1;
    std::uint64_t snapshot_id = 0;
    std::uint32_t session = 0;                // number of the session in its run; 0: unknown
    std::uint32_t node = 0, nodes = 0;        // of the snapshot
    std::uint32_t node_ranks = 0, ranks = 0;  // of this node, of all nodes
    std::string outcome;  // "committed" (by this agent), "found_committed", "superseded", "set_aside", "failed"
    std::uint64_t bytes = 0, stored_bytes = 0;  // of this node file; as written
    std::int64_t saved_unix_ns = 0;             // begin of the save on the first rank of the node; 0: unknown
    std::int64_t sealed_unix_ns = 0, drain_unix_ns = 0, drained_unix_ns = 0, ended_unix_ns = 0;
    double blocked_seconds = 0, wait_seconds = 0, plan_seconds = 0, copy_seconds = 0;
    BlockedParts blocked_parts = {};  // all 0 from versions before 2026-11-28
    std::uint32_t missing_ranks =
        0;  // of node_ranks: no timings of this save came from these, and the seconds are without them
    double drain_seconds = 0, drain_cpu_seconds = 0, sync_seconds = 0, commit_seconds = 0, retry_seconds = 0;
    std::uint32_t retries = 0;
    std::uint64_t rate_limit_bytes_per_second = 0;  // of the drain at its end; 0: none
    std::uint32_t slots = 0;                        // of the stream on this node
    double interval_seconds = 0;                    // since the previous save began; 0: unknown
    std::int64_t waited_for_step = -1;              // its drain held the slot that this save waited for; -1: none
    // The slowdown of the computing by drains of this session so far: median step with drains / without - 1, with its
    // 90 % interval. steps = 0: unknown.
    double slowdown_percent = 0, slowdown_low_percent = 0, slowdown_high_percent = 0;
    std::uint64_t slowdown_steps = 0;
    // the form of the node files at the target: "", "combined" or "shared"; "own": one file for each node
    std::string file;
    // Saves of all streams since the previous batch that were skipped, refused, or replaced before their drain. The
    // count is of the rank with the most such saves, the seconds of the rank that lost the most time.
    std::uint64_t unkept_saves = 0;
    double unkept_seconds = 0;
    std::uint64_t dropped = 0;  // timings without room in a ring or in this batch
    std::vector<TimingTarget> targets = {};
    std::uint64_t targets_left_out = 0;  // the fastest targets, if there are more than 256
    std::vector<std::string> why = {};   // sentences about what was slow (telemetry/why.hpp)
    std::vector<Timing> timings = {};    // by start
};

/// The most bytes of one batch in the file.
inline constexpr std::size_t timing_batch_bytes_max = 64u << 10;

/// Encodes a batch in at most timing_batch_bytes_max bytes. If necessary, merges successive writes at one target, then
/// drops timings.
std::vector<std::byte> encode(TimingBatch batch);

struct TimingBatches {
    std::vector<TimingBatch> batches = {};
    std::uint64_t damaged_bytes = 0;  // skipped
};
/// Returns all whole batches of a file and skips damaged bytes up to the next whole batch. If `with_timings` is false,
/// TimingBatch::timings stay empty.
TimingBatches decode_timings(std::span<const std::byte> file, bool with_timings = true);

}  // namespace forebay::format
