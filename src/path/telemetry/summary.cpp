// Summaries: batches are matched to snapshots (snapshot_rows) and counted by node and target (node_rows). The rest
// follows from these rows. If clocks of nodes differ or jump, a negative time becomes 0.

#include "path/telemetry/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "path/telemetry/advice.hpp"
#include "path/telemetry/median.hpp"
#include "path/telemetry/node_rows.hpp"
#include "path/telemetry/snapshot_rows.hpp"

namespace forebay::telemetry {

namespace {

Spread spread_of(const std::vector<double>& samples) {
    Spread spread{.count = samples.size(), .median = median_of(samples), .p95 = quantile_of(samples, 0.95)};
    for (const auto sample : samples) {
        spread.max = std::max(spread.max, sample);
        spread.sum += sample;
    }
    return spread;
}

// From the first to the last time that was added.
struct Span {
    std::int64_t begin_unix_ns = 0, end_unix_ns = 0;
    void add(std::int64_t unix_ns) {
        if (unix_ns <= 0) return;
        if (begin_unix_ns == 0 || unix_ns < begin_unix_ns) begin_unix_ns = unix_ns;
        end_unix_ns = std::max(end_unix_ns, unix_ns);
    }
    double seconds() const { return static_cast<double>(end_unix_ns - begin_unix_ns) * 1e-9; }
};

// The next session overwrites the status lines, but batches and events stay. So a session with batches has the time of
// its batches alone: else its time would change when the next session begins.
void add_times(const Chronicle& chronicle, Summary& summary) {
    std::map<std::uint32_t, Span> sessions;
    Span all, reported;
    for (const auto& batch : chronicle.batches) {
        auto& session = sessions[batch.session];
        session.add(batch.saved_unix_ns);
        all.add(batch.saved_unix_ns);
        // A later session, or `forebay drain`, may drain a snapshot hours after the end of its session.
        const bool by_later_agent = batch.agent_began_unix_ns > batch.sealed_unix_ns;
        if (by_later_agent) session.add(batch.sealed_unix_ns);
        for (const auto unix_ns :
             {batch.agent_began_unix_ns, batch.drain_unix_ns, batch.drained_unix_ns, batch.ended_unix_ns}) {
            if (!by_later_agent) session.add(unix_ns);
            all.add(unix_ns);
        }
    }
    std::map<std::uint32_t, Span> without_batches;
    for (const auto& status : chronicle.statuses) {
        // An agent outlives a dead application to keep the staged copy. This time does not belong to the run.
        if (status.application_lives) reported.add(status.unix_ns);
        if (sessions.contains(status.session)) continue;
        auto& session = without_batches[status.session];
        for (const auto unix_ns : {status.began_unix_ns, status.application_lives ? status.unix_ns : 0}) {
            session.add(unix_ns);
            all.add(unix_ns);
        }
    }
    sessions.merge(without_batches);
    for (const auto& event : chronicle.events) all.add(event.unix_ns);
    for (const auto& [number, span] : sessions) {
        summary.sessions.push_back(number);
        summary.time_seconds += span.seconds();
    }
    summary.begin_unix_ns = all.begin_unix_ns;
    summary.end_unix_ns = all.end_unix_ns;
    summary.reported_unix_ns = std::max(all.end_unix_ns, reported.end_unix_ns);
}

PartSpreads part_spreads_of(const std::vector<SnapshotRow>& rows) {
    std::vector<double> copy, layout, ranks, slot;
    for (const auto& row : rows) {
        copy.push_back(row.blocked_parts.copy_seconds);
        layout.push_back(row.blocked_parts.layout_seconds);
        ranks.push_back(row.blocked_parts.ranks_seconds);
        slot.push_back(row.blocked_parts.slot_seconds);
    }
    return {spread_of(copy), spread_of(layout), spread_of(ranks), spread_of(slot)};
}

void add_spreads(Summary& summary) {
    std::vector<double> blocked, waited, drained, durable;
    summary.parts = part_spreads_of(summary.rows);
    for (const auto& row : summary.rows) {
        blocked.push_back(row.blocked_seconds);
        if (row.wait_seconds >= wait_seconds_min) waited.push_back(row.wait_seconds);
        if (row.drain_seconds > 0) drained.push_back(row.drain_seconds);
        if (row.durable_unix_ns != 0) durable.push_back(row.durable_seconds);
    }
    summary.blocked = spread_of(blocked);
    summary.waited = spread_of(waited);
    summary.drained = spread_of(drained);
    summary.durable = spread_of(durable);
    const double visible = summary.blocked.sum + summary.unkept_seconds;
    if (summary.time_seconds > 0) summary.visible_ratio = visible / summary.time_seconds;
    const double both = visible + summary.drained.sum;
    if (both > 0 && summary.drained.sum > 0) summary.hidden_ratio = summary.drained.sum / both;
    if (summary.blocked.median > 0) summary.jitter = summary.blocked.p95 / summary.blocked.median;
}

void add_rates(Summary& summary) {
    std::vector<double> rates, slacks;
    for (const auto& row : summary.rows) {
        if (row.drain_seconds > 0 && row.stored_bytes > 0)
            rates.push_back(static_cast<double>(row.stored_bytes) / row.drain_seconds);
        if (row.slack > 0) slacks.push_back(row.slack);
    }
    summary.rate_median = median_of(rates);
    summary.rate_peak = quantile_of(rates, 1);
    summary.slack_median = median_of(slacks);
    summary.slack_worst = quantile_of(slacks, 0);
}

void add_counts(Summary& summary) {
    for (const auto& row : summary.rows) {
        summary.nodes = std::max(summary.nodes, row.nodes);
        summary.ranks = std::max(summary.ranks, row.ranks);
        const auto lower = [](std::uint32_t& least, std::uint32_t number) {
            if (number > 0 && (least == 0 || number < least)) least = number;
        };
        lower(summary.nodes_least, row.nodes);
        lower(summary.ranks_least, row.ranks);
        summary.missing_records += row.missing_ranks;
        summary.bytes_saved += row.bytes;
        summary.committed += row.outcome == "committed" ? 1 : 0;
        summary.superseded += row.outcome == "superseded" ? 1 : 0;
        summary.failed += row.outcome == "failed" ? 1 : 0;
    }
    summary.snapshots = summary.rows.size();
}

// Times of a session come from one clock (agent/timing_keeper.hpp). Between two sessions the clock may have been set
// back. A status may know a commit before its batch arrives: the time of this commit is unknown.
void add_newest_durable(const Chronicle& chronicle, Summary& summary) {
    std::uint32_t session = 0;
    for (const auto& row : summary.rows) {
        const auto newest = std::tie(session, summary.newest_durable_unix_ns);
        if (row.outcome != "committed" || std::tie(row.session, row.durable_unix_ns) < newest) continue;
        session = row.session;
        summary.newest_durable_unix_ns = row.durable_unix_ns;
        summary.newest_durable_step = row.step;
        summary.newest_durable_stream = row.stream;
    }
    for (const auto& status : chronicle.statuses)
        for (const auto& stream : status.streams) {
            const bool may_compare =
                stream.name == summary.newest_durable_stream || summary.newest_durable_unix_ns == 0;
            if (status.session < session || !may_compare ||
                stream.counts.newest_durable_step <= summary.newest_durable_step)
                continue;
            summary.newest_durable_step = stream.counts.newest_durable_step;
            summary.newest_durable_stream = stream.name;
            summary.newest_durable_unix_ns = 0;
        }
}

// All nodes skip or replace the same saves, so the node with the most has the best count.
void add_unkept(const Chronicle& chronicle, Summary& summary) {
    std::map<std::string, std::pair<std::uint64_t, double>> nodes;
    for (const auto& batch : chronicle.batches) {
        auto& [saves, seconds] = nodes[node_name(batch)];
        saves += batch.unkept_saves;
        seconds += seconds_from(batch.unkept_seconds);
        summary.unkept_saves = std::max(summary.unkept_saves, saves);
        summary.unkept_seconds = std::max(summary.unkept_seconds, seconds);
    }
}

// Nodes compute in step, so no node's slowdown is the run's. The node in the middle counts, with its own interval.
void add_slowdown(const Chronicle& chronicle, Summary& summary) {
    std::map<std::string, const format::TimingBatch*> newest;
    for (const auto& batch : chronicle.batches) {
        if (batch.slowdown_steps == 0 || !std::isfinite(batch.slowdown_percent)) continue;
        auto& known = newest[node_name(batch)];
        if (known == nullptr || batch.ended_unix_ns >= known->ended_unix_ns) known = &batch;
    }
    if (newest.empty()) return;
    std::vector<const format::TimingBatch*> nodes;
    nodes.reserve(newest.size());
    for (const auto& [name, batch] : newest) nodes.push_back(batch);
    std::ranges::stable_sort(nodes, {}, [](const auto* batch) { return batch->slowdown_percent; });
    const auto& middle = *nodes[(nodes.size() - 1) / 2];
    const auto finite = [](double number) { return std::isfinite(number) ? number : 0; };
    summary.slowdown_percent = middle.slowdown_percent;
    summary.slowdown_low_percent = finite(middle.slowdown_low_percent);
    summary.slowdown_high_percent = finite(middle.slowdown_high_percent);
    summary.slowdown_steps = middle.slowdown_steps;
}

}  // namespace

Summary summarize(const Chronicle& chronicle) {
    Summary summary{.run = chronicle.run, .problems = chronicle.problems};
    const auto snapshots = match(chronicle);
    for (const auto& snapshot : snapshots) {
        summary.rows.push_back(row_of(snapshot));
        for (const auto* batch : snapshot.batches) {
            if (batch->drained_unix_ns == 0) continue;
            summary.bytes_drained += batch->bytes;
            summary.bytes_stored += batch->stored_bytes;
        }
    }
    add_intervals(summary.rows);
    for (const auto& batch : chronicle.batches) {
        summary.retries += batch.retries;
        summary.dropped += batch.dropped;
    }
    add_times(chronicle, summary);
    add_counts(summary);
    add_newest_durable(chronicle, summary);
    add_unkept(chronicle, summary);
    add_spreads(summary);
    add_rates(summary);
    add_slowdown(chronicle, summary);
    summary.node_rows = nodes_of(chronicle);
    summary.target_rows = targets_of(snapshots);
    // Targets first: the time that a node loses at slow targets does not count against the node.
    summary.slow_targets = slow_ones(target_samples(snapshots));
    summary.slow_nodes = slow_ones(node_samples(snapshots, summary.slow_targets));
    summary.advice = advice_for(summary, needs_of(chronicle));
    return summary;
}

}  // namespace forebay::telemetry
