// Computes from a run's chronicle its actions and costs: the numbers of the report, the end-of-run text, summary.json,
// the metrics, `forebay top` and the live page. No other code computes them. A new figure needs a member of Summary, a
// line of each_figure(), and its computation in summary.cpp. summary.json follows from the list.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "path/telemetry/chronicle.hpp"
#include "path/telemetry/slow.hpp"

namespace forebay::telemetry {

/// A snapshot over all nodes that reported on it.
struct SnapshotRow {
    std::string stream;
    std::int64_t step = -1;
    std::uint64_t snapshot_id = 0;
    std::uint32_t session = 0;
    std::uint32_t nodes = 0, nodes_told = 0, ranks = 0;
    std::string outcome;  // "committed", "superseded", "set_aside", "failed", "incomplete" (nodes are missing)
    std::uint64_t bytes = 0, stored_bytes = 0;
    std::int64_t saved_unix_ns = 0;                         // the first rank began
    std::int64_t drained_unix_ns = 0, durable_unix_ns = 0;  // the last node; the commit. 0: not yet
    double blocked_seconds = 0, wait_seconds = 0, plan_seconds = 0, copy_seconds = 0;  // the slowest rank, each
    format::BlockedParts blocked_parts = {};                         // of blocked_seconds, which is their sum
    std::uint32_t missing_ranks = 0;                                 // their record of the save did not come
    double drain_seconds = 0, sync_seconds = 0, commit_seconds = 0;  // the slowest node
    double durable_seconds = 0;                                      // from saved to durable
    double interval_seconds = 0;  // since the save before of this stream began; 0: the first save
    double slack = 0;             // (interval - wait of the save before) / drain; 0: unknown
    std::string slowest_node;     // in the drain
    double straggler_ratio = 0;   // slowest drain / median drain; 0: only one node
    std::vector<std::string> why = {};
};

struct Spread {
    std::uint64_t count = 0;
    double median = 0, p95 = 0, max = 0, sum = 0;
};

/// The spread of each part of the visible time over the rows. The sums add up to the sum of Summary::blocked.
struct PartSpreads {
    Spread copy, layout, ranks, slot;
};

struct NodeRow {
    std::string name;
    std::uint64_t drains = 0, bytes = 0, failures = 0, retries = 0;
    double drain_seconds = 0;    // the sum
    double rate = 0;             // median of bytes / drain seconds
    double blocked_seconds = 0;  // the sum
};

struct TargetRow {
    std::string name;
    std::uint64_t bytes = 0, writes = 0;
    double busy_seconds = 0, rate = 0;  // rate: median over snapshots of bytes / busy seconds
    double last_write_seconds = 0;      // of the newest snapshot: from its first write anywhere to the last write here
};

struct Summary {
    std::string run;
    std::vector<std::uint32_t> sessions;
    std::int64_t begin_unix_ns = 0, end_unix_ns = 0;  // the first and the last time in batches and events
    std::int64_t reported_unix_ns = 0;   // the newest status of a living application, if it is later than the end
    double time_seconds = 0;             // the sum over sessions, each from its first to its last time in batches
    std::uint32_t nodes = 0, ranks = 0;  // most of any snapshot
    std::uint32_t nodes_least = 0, ranks_least = 0;  // least of any snapshot
    Spread blocked, waited, drained, durable;        // seconds, one sample per row
    PartSpreads parts;                               // of `blocked`
    std::uint64_t bytes_saved = 0, bytes_drained = 0, bytes_stored = 0;
    std::uint64_t snapshots = 0, committed = 0, superseded = 0, failed = 0;
    std::uint64_t unkept_saves = 0;  // skipped, refused, or replaced before the drain
    double unkept_seconds = 0;       // time that they blocked the application
    double visible_ratio = 0;        // (blocked + unkept) / time_seconds
    double hidden_ratio = 0;         // drain / (blocked + unkept + drain)
    double slack_median = 0, slack_worst = 0;
    double jitter = 0;                      // p95 / p50 of blocked
    double rate_peak = 0, rate_median = 0;  // over snapshots: stored bytes of all nodes / seconds of the slowest drain
    double slowdown_percent = 0, slowdown_low_percent = 0, slowdown_high_percent = 0;  // the node in the middle
    std::uint64_t slowdown_steps = 0;
    std::int64_t newest_durable_step = -1, newest_durable_unix_ns = 0;
    std::string newest_durable_stream;
    std::uint64_t retries = 0, dropped = 0;
    std::uint64_t missing_records = 0;        // of ranks, over the rows
    std::vector<SnapshotRow> rows = {};       // by time
    std::vector<NodeRow> node_rows = {};      // by name
    std::vector<TargetRow> target_rows = {};  // by name
    std::vector<Slow> slow_nodes, slow_targets;
    std::vector<std::string> advice = {};  // sentences with the numbers behind them and the line to paste
    std::vector<std::string> problems = {};
};

/// A figure that is known only above 0.
template <class T>
struct AboveZero {
    const T& value;
};
/// A figure that may be unknown, or several figures in `each(visit)`.
template <class Inner>
struct KnownIf {
    bool is_known;
    Inner inner;
};
template <class T>
AboveZero(const T&) -> AboveZero<T>;
template <class Inner>
KnownIf(bool, Inner) -> KnownIf<Inner>;

/// Calls `visit(key, figure)` for each figure, in the order of summary.json. A figure is a member, or a type above.
template <class Visit>
void each_figure(const Summary& summary, Visit&& visit) {
    visit("run", summary.run);
    visit("sessions", summary.sessions);
    visit("begin_unix_ns", AboveZero{summary.begin_unix_ns});
    visit("end_unix_ns", AboveZero{summary.end_unix_ns});
    visit("time_seconds", summary.time_seconds);
    visit("nodes", summary.nodes);
    visit("ranks", summary.ranks);
    visit("nodes_least", summary.nodes_least);
    visit("ranks_least", summary.ranks_least);
    visit("snapshots", summary.snapshots);
    visit("committed", summary.committed);
    visit("superseded", summary.superseded);
    visit("failed", summary.failed);
    visit("bytes_saved", summary.bytes_saved);
    visit("bytes_drained", summary.bytes_drained);
    visit("bytes_stored", summary.bytes_stored);
    visit("blocked_seconds", summary.blocked);
    visit("blocked_parts", summary.parts);
    visit("waited_seconds", summary.waited);
    visit("drained_seconds", summary.drained);
    visit("durable_seconds", summary.durable);
    visit("unkept_saves", summary.unkept_saves);
    visit("unkept_seconds", summary.unkept_seconds);
    visit("visible_ratio", KnownIf{summary.time_seconds > 0, summary.visible_ratio});
    visit("hidden_ratio", KnownIf{summary.drained.count > 0, summary.hidden_ratio});
    visit("slack_median", AboveZero{summary.slack_median});
    visit("slack_worst", AboveZero{summary.slack_worst});
    visit("jitter", AboveZero{summary.jitter});
    visit("rate_peak_bytes_per_second", AboveZero{summary.rate_peak});
    visit("rate_median_bytes_per_second", AboveZero{summary.rate_median});
    visit("slowdown", KnownIf{summary.slowdown_steps > 0, [&](auto&& each) {
                                  each("percent", summary.slowdown_percent);
                                  each("low_percent", summary.slowdown_low_percent);
                                  each("high_percent", summary.slowdown_high_percent);
                                  each("steps", summary.slowdown_steps);
                              }});
    visit("newest_durable", KnownIf{summary.newest_durable_step >= 0, [&](auto&& each) {
                                        each("stream", summary.newest_durable_stream);
                                        each("step", summary.newest_durable_step);
                                        each("unix_ns", AboveZero{summary.newest_durable_unix_ns});
                                    }});
    visit("retries", summary.retries);
    visit("dropped", summary.dropped);
    visit("missing_records", summary.missing_records);
    visit("snapshot_rows", summary.rows);
    visit("node_rows", summary.node_rows);
    visit("target_rows", summary.target_rows);
    visit("slow_nodes", summary.slow_nodes);
    visit("slow_targets", summary.slow_targets);
    visit("advice", summary.advice);
    visit("problems", summary.problems);
}

Summary summarize(const Chronicle& chronicle);

/// The bytes of all nodes in each of `bins` equal parts of [begin, end), from the timings of writes. A batch without
/// timings of writes counts evenly from the first to the last write of each target. `target` "*": all targets; else
/// only this target.
std::vector<double> bytes_over_time(const Chronicle& chronicle, std::int64_t begin_unix_ns, std::int64_t end_unix_ns,
                                    std::size_t bins, const std::string& target = "*");

/// The same for one snapshot and for each target, or for each node if `by_node`.
std::map<std::string, std::vector<double>> bytes_over_time_by_name(const Chronicle& chronicle, const SnapshotRow& row,
                                                                   std::int64_t begin_unix_ns, std::int64_t end_unix_ns,
                                                                   std::size_t bins, bool by_node);

}  // namespace forebay::telemetry
