// Timings: when something of a save, drain or commit began, how long it took and how many bytes it moved, 24 bytes
// each; and the batch of them that an agent keeps in the run for one snapshot of its node. docs/formats/timings.md.
//
// Life: a rank or an agent puts Timings into its ring (node/timing_ring.hpp) -> the agent gathers those of a snapshot
// into a TimingBatch and appends it to RUN/forebay/timings-HOST-N.bin -> telemetry reads all of these.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::format {

/// What a timing is of. Numbers are those of the file; readers pass over numbers that they do not know.
enum class TimingKind : std::uint16_t {
    // Of a rank, in a save. The four that follow `save` lie within it, one after the other and without a gap.
    save = 1,   // the whole call. KiB: of this rank's data
    wait = 2,   // for a free slot, on any node
    plan = 3,   // layout, or what has changed of it; and the seal
    copy = 4,   // copying and checksumming, and what the application writes into the slot itself. KiB: as before
    agree = 5,  // waiting for other ranks: until all have come, have agreed, and have copied
    // Of an agent. `target` is set where bytes were written.
    drain = 16,  // of the node file: from the first write to the name, without what overtook it
    write = 17,  // one write, by one of the threads that write at once
    sync = 18,
    commit = 19,     // from this node's last act to the manifest, or to seeing that another agent has written it
    retention = 20,  // removal of older snapshots
    view = 21,
    retry = 22,     // from a failed try to the beginning of the next
    analysis = 23,  // of an operator or a script
};
/// "write"; "" for a number without a name.
const char* name_of(TimingKind kind);

inline constexpr std::uint16_t no_target = 0xffff;

/// Bits of Timing::flags: whose it is, how many are merged in it, whether it ended with an error.
inline constexpr std::uint32_t timing_source_mask = 0xffff;  // rank of the node; agent_source
inline constexpr std::uint32_t agent_source = 0xffff;
inline constexpr std::uint32_t timing_merged_shift = 16, timing_merged_max = 0x7fff;  // beside the first one
inline constexpr std::uint32_t timing_failed = 1u << 31;

struct Timing {
    std::uint64_t start_unix_ns = 0;   // realtime of the process at its begin, and its monotonic clock from there on
    std::uint32_t duration_us = 0;     // 4294967295: as long, or longer
    std::uint32_t kib = 0;             // rounded up; 4294967295: as many, or more
    std::uint16_t target = no_target;  // index into TimingBatch::targets
    std::uint16_t kind = 0;
    std::uint32_t flags = 0;

    std::uint64_t end_unix_ns() const { return start_unix_ns + std::uint64_t{duration_us} * 1000; }
    double seconds() const { return duration_us * 1e-6; }
    std::uint64_t bytes() const { return std::uint64_t{kib} << 10; }
    friend bool operator==(const Timing&, const Timing&) = default;
};
static_assert(sizeof(Timing) == 24);

/// A storage target that a node has written a snapshot to: an OST where the layout of the file tells it ("OST0014"),
/// else the target as the node sees it ("").
struct TimingTarget {
    std::string name;
    std::uint64_t bytes = 0;
    double busy_seconds = 0;  // the sum over its writes; of several at once more than the time that passed
    std::uint64_t writes = 0;
    std::int64_t first_unix_ns = 0;  // beginning of its first write
    std::int64_t last_unix_ns = 0;   // end of its last write: before any sync, and before any wait for others
};

/// Where the time of a save went, on the rank of a node that it held longest: the four add up to blocked_seconds.
struct BlockedParts {
    double copy_seconds = 0, layout_seconds = 0;
    double ranks_seconds = 0;  // waiting for other ranks
    double slot_seconds = 0;   // waiting for a slot
    double sum() const { return copy_seconds + layout_seconds + ranks_seconds + slot_seconds; }
    friend bool operator==(const BlockedParts&, const BlockedParts&) = default;
};

/// One snapshot, as one node has seen it. Seconds of ranks are those of the slowest of the node, each by itself; but
/// blocked_parts.
struct TimingBatch {
    std::string host, virtual_node;  // "nid00412", "0": together they name a node
    std::string agent;               // "process", "thread", "rank", "drain" (the command)
    std::string stream;
    std::int64_t step = -1;
    std::uint64_t snapshot_id = 0;
    std::uint32_t session = 0;                // the number that the session has in its run; 0: unknown
    std::uint32_t node = 0, nodes = 0;        // of the snapshot
    std::uint32_t node_ranks = 0, ranks = 0;  // of this node, of all
    std::string outcome;  // "committed" (by this agent), "found_committed", "superseded", "set_aside", "failed"
    std::uint64_t bytes = 0, stored_bytes = 0;  // of this node file; as it was written
    std::int64_t saved_unix_ns = 0;             // when the first rank of the node began to save; 0: unknown
    std::int64_t sealed_unix_ns = 0, drain_unix_ns = 0, drained_unix_ns = 0, ended_unix_ns = 0;
    double blocked_seconds = 0, wait_seconds = 0, plan_seconds = 0, copy_seconds = 0;
    BlockedParts blocked_parts = {};  // all 0 in what versions before 2026-11-28 have written
    std::uint32_t missing_ranks =
        0;  // of node_ranks: their timings of this save did not come; seconds are of the others
    double drain_seconds = 0, drain_cpu_seconds = 0, sync_seconds = 0, commit_seconds = 0, retry_seconds = 0;
    std::uint32_t retries = 0;
    std::uint64_t rate_limit_bytes_per_second = 0;  // that the drain kept at its end; 0: none
    std::uint32_t slots = 0;                        // of the stream on this node
    double interval_seconds = 0;                    // since the save before began; 0: unknown
    std::int64_t waited_for_step = -1;              // whose drain held the slot that this save waited for; -1: none
    // Of the computing beside drains of this session up to here: median step with drains / without - 1, and its
    // interval of 90 %. steps = 0: unknown.
    double slowdown_percent = 0, slowdown_low_percent = 0, slowdown_high_percent = 0;
    std::uint64_t slowdown_steps = 0;
    std::string file;  // the form of the node files at the target: "", "combined" or "shared"; "own" for one a node
    // Saves since the batch before, of all streams, that were skipped, refused, or replaced before they were drained:
    // of the rank of the node with the most of them, and of that which lost the most time over them.
    std::uint64_t unkept_saves = 0;
    double unkept_seconds = 0;
    std::uint64_t dropped = 0;  // timings that found no room in a ring, or here
    std::vector<TimingTarget> targets = {};
    std::uint64_t targets_left_out = 0;  // the fastest, where there are more than 256
    std::vector<std::string> why = {};   // sentences about what was slow (telemetry/why.hpp)
    std::vector<Timing> timings = {};    // by start
};

/// Of one batch in the file, whatever the node has done.
inline constexpr std::size_t timing_batch_bytes_max = 64u << 10;

/// Merges writes that follow one another at one target, then drops what is left over, until the batch has at most
/// timing_batch_bytes_max bytes.
std::vector<std::byte> encode(TimingBatch batch);

struct TimingBatches {
    std::vector<TimingBatch> batches = {};
    std::uint64_t damaged_bytes = 0;  // passed over
};
/// All that is whole in the contents of a file; what is damaged is passed over up to the next whole batch.
/// `with_timings` false: without TimingBatch::timings.
TimingBatches decode_timings(std::span<const std::byte> file, bool with_timings = true);

}  // namespace forebay::format
