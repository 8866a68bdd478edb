#include "path/telemetry/snapshot_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "path/telemetry/median.hpp"

namespace forebay::telemetry {

namespace {

std::string outcome_of(const Matched& snapshot) {
    const auto any = [&](std::string_view outcome) {
        return std::ranges::any_of(snapshot.batches, [&](const auto* batch) { return batch->outcome == outcome; });
    };
    // A commit covers all nodes, so the report of one node is enough.
    if (any("committed") || any("found_committed")) return "committed";
    for (const auto* outcome : {"failed", "superseded", "set_aside"})
        if (any(outcome)) return outcome;
    return "incomplete";
}

// The time of the commit from the agent that made it; else the first time at which another agent saw it.
std::int64_t durable_time(const Matched& snapshot) {
    const auto time = [](const format::TimingBatch& batch) {
        if (batch.drained_unix_ns <= 0) return batch.ended_unix_ns;
        return batch.drained_unix_ns +
               static_cast<std::int64_t>(std::min(seconds_from(batch.commit_seconds), 1e9) * 1e9);
    };
    std::int64_t earliest = 0;
    for (const auto* batch : snapshot.batches) {
        if (batch->outcome == "committed") return time(*batch);
        if (batch->outcome == "found_committed")
            earliest = earliest == 0 ? time(*batch) : std::min(earliest, time(*batch));
    }
    return earliest;
}

std::int64_t drained_time(const Matched& snapshot, bool whole) {
    std::int64_t last = 0;
    for (const auto* batch : snapshot.batches) {
        if (batch->drained_unix_ns == 0 && !whole) return 0;
        last = std::max(last, batch->drained_unix_ns);
    }
    return last;
}

void add_slowest(const Matched& snapshot, SnapshotRow& row) {
    std::vector<double> drains;
    for (const auto* batch : snapshot.batches) {
        const double seconds = seconds_from(batch->drain_seconds);
        if (seconds > 0) drains.push_back(seconds);
        if (seconds <= row.drain_seconds) continue;
        row.drain_seconds = seconds;
        row.slowest_node = node_name(*batch);
    }
    if (drains.size() > 1) row.straggler_ratio = row.drain_seconds / median_of(drains);
}

// The parts of the rank that was blocked longest on the node. Batches of older versions only have the longest of each
// kind, from different ranks. The rest of the blocked time was waiting for ranks.
format::BlockedParts parts_of(const format::TimingBatch& batch) {
    const auto& blocked = batch.blocked_parts;
    format::BlockedParts parts{.copy_seconds = seconds_from(blocked.copy_seconds),
                               .layout_seconds = seconds_from(blocked.layout_seconds),
                               .ranks_seconds = seconds_from(blocked.ranks_seconds),
                               .slot_seconds = seconds_from(blocked.slot_seconds)};
    double left = seconds_from(batch.blocked_seconds);
    const auto take = [&](double seconds) {
        const double taken = std::min(seconds_from(seconds), left);
        left -= taken;
        return taken;
    };
    const bool is_old = parts.sum() <= 0;
    parts.copy_seconds = take(is_old ? batch.copy_seconds : parts.copy_seconds);
    parts.slot_seconds = take(is_old ? batch.wait_seconds : parts.slot_seconds);
    parts.layout_seconds = take(is_old ? batch.plan_seconds : parts.layout_seconds);
    parts.ranks_seconds = left;
    return parts;
}

}  // namespace

double seconds_from(double number) { return std::isfinite(number) && number > 0 ? number : 0; }

double seconds_between(std::int64_t begin_unix_ns, std::int64_t end_unix_ns) {
    if (end_unix_ns <= begin_unix_ns) return 0;
    return static_cast<double>(static_cast<std::uint64_t>(end_unix_ns) - static_cast<std::uint64_t>(begin_unix_ns)) *
           1e-9;
}

std::vector<Matched> match(const Chronicle& chronicle) {
    using Key = std::tuple<std::string_view, std::int64_t, std::uint64_t, std::uint32_t>;
    std::map<Key, std::vector<const format::TimingBatch*>> snapshots;
    for (const auto& batch : chronicle.batches)
        snapshots[{batch.stream, batch.step, batch.snapshot_id, batch.session}].push_back(&batch);
    std::vector<std::tuple<std::int64_t, Key, Matched>> order;
    for (const auto& [key, batches] : snapshots) {
        std::map<std::uint32_t, const format::TimingBatch*> nodes;
        for (const auto* batch : batches) {
            nodes[batch->node] = batch;  // the last batch of its file: a failed drain is tried again
        }
        Matched snapshot;
        std::int64_t saved_unix_ns = 0;
        for (const auto& [node, batch] : nodes) {
            snapshot.batches.push_back(batch);
            if (batch->saved_unix_ns > 0 && (saved_unix_ns == 0 || batch->saved_unix_ns < saved_unix_ns))
                saved_unix_ns = batch->saved_unix_ns;
        }
        order.emplace_back(saved_unix_ns, key, std::move(snapshot));
    }
    std::ranges::stable_sort(order, {},
                             [](const auto& entry) { return std::tie(std::get<0>(entry), std::get<1>(entry)); });
    std::vector<Matched> sorted;
    sorted.reserve(order.size());
    for (auto& [time, key, snapshot] : order) sorted.push_back(std::move(snapshot));
    return sorted;
}

SnapshotRow row_of(const Matched& snapshot) {
    const auto& first = *snapshot.batches.front();
    SnapshotRow row{
        .stream = first.stream, .step = first.step, .snapshot_id = first.snapshot_id, .session = first.session};
    row.nodes_told = static_cast<std::uint32_t>(snapshot.batches.size());
    std::vector<double> intervals;
    std::set<std::string_view> texts;
    for (const auto* batch : snapshot.batches) {
        row.nodes = std::max(row.nodes, batch->nodes);
        row.ranks = std::max(row.ranks, batch->ranks);
        row.bytes += batch->bytes;
        row.stored_bytes += batch->stored_bytes;
        if (batch->saved_unix_ns > 0 && (row.saved_unix_ns == 0 || batch->saved_unix_ns < row.saved_unix_ns))
            row.saved_unix_ns = batch->saved_unix_ns;
        if (const double blocked = seconds_from(batch->blocked_seconds); blocked > row.blocked_seconds) {
            row.blocked_seconds = blocked;
            row.blocked_parts = parts_of(*batch);
        }
        row.missing_ranks += batch->missing_ranks;
        row.wait_seconds = std::max(row.wait_seconds, seconds_from(batch->wait_seconds));
        row.plan_seconds = std::max(row.plan_seconds, seconds_from(batch->plan_seconds));
        row.copy_seconds = std::max(row.copy_seconds, seconds_from(batch->copy_seconds));
        row.sync_seconds = std::max(row.sync_seconds, seconds_from(batch->sync_seconds));
        row.commit_seconds = std::max(row.commit_seconds, seconds_from(batch->commit_seconds));
        if (seconds_from(batch->interval_seconds) > 0) intervals.push_back(batch->interval_seconds);
        for (const auto& sentence : batch->why)
            // Agents of several nodes may have found the same reason.
            if (texts.insert(sentence).second) row.why.push_back(sentence);
    }
    row.nodes = std::max(row.nodes, row.nodes_told);
    const bool whole = row.nodes_told == row.nodes;
    row.outcome = outcome_of(snapshot);
    row.interval_seconds = median_of(intervals);
    add_slowest(snapshot, row);
    const bool committed = row.outcome == "committed";
    if (whole || committed) row.drained_unix_ns = drained_time(snapshot, committed);
    if (committed) row.durable_unix_ns = durable_time(snapshot);
    if (row.durable_unix_ns != 0 && row.saved_unix_ns != 0)
        row.durable_seconds = seconds_between(row.saved_unix_ns, row.durable_unix_ns);
    return row;
}

void add_intervals(std::vector<SnapshotRow>& rows) {
    struct Before {
        std::int64_t saved_unix_ns = 0;
        double wait_seconds = 0;
    };
    std::map<std::pair<std::string, std::uint32_t>, Before> before;
    for (auto& row : rows) {
        auto& [saved_unix_ns, wait_seconds] = before[{row.stream, row.session}];
        if (row.interval_seconds <= 0 && saved_unix_ns != 0 && row.saved_unix_ns != 0)
            row.interval_seconds = seconds_between(saved_unix_ns, row.saved_unix_ns);
        if (row.saved_unix_ns != 0) saved_unix_ns = row.saved_unix_ns;
        // A wait for storage makes the interval longer. Without the wait, saves would have come sooner.
        const double asked_seconds = std::max(0.0, row.interval_seconds - wait_seconds);
        if (row.interval_seconds > 0 && row.drain_seconds > 0) row.slack = asked_seconds / row.drain_seconds;
        wait_seconds = row.wait_seconds;
    }
}

}  // namespace forebay::telemetry
