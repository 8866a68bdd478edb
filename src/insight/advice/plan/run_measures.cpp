#include "insight/advice/plan/run_measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/sys/clock.hpp"
#include "insight/advice/plan/inputs.hpp"
#include "path/telemetry/median.hpp"
#include "path/telemetry/snapshot_rows.hpp"
#include "path/telemetry/summary.hpp"

namespace forebay::advice {

namespace {

using format::MeasureOrigin;
using telemetry::seconds_from;

std::string largest_stream(const telemetry::Summary& summary) {
    std::map<std::string, std::uint64_t> bytes;
    for (const auto& row : summary.rows) bytes[row.stream] += row.bytes;
    const auto most = std::ranges::max_element(bytes, {}, [](const auto& entry) { return entry.second; });
    return most == bytes.end() ? "" : most->first;
}

// From batches: one sample a node and snapshot.
struct NodeSamples {
    std::vector<double> bytes, save_rates, drain_rates, slots;
};

// From rows: one sample a snapshot.
struct SaveSamples {
    std::vector<double> saves, ranks, drains, commits, visibles, computing, steps;
};

NodeSamples node_samples_of(const telemetry::Chronicle& chronicle, const telemetry::Summary& summary,
                            const std::string& stream) {
    std::set<std::string> slow;
    for (const auto& node : summary.slow_nodes) slow.insert(node.name);
    NodeSamples samples;
    for (const auto& batch : chronicle.batches) {
        if (batch.stream != stream || batch.bytes == 0) continue;
        const auto bytes = static_cast<double>(batch.bytes);
        samples.bytes.push_back(bytes);
        samples.slots.push_back(batch.slots);
        // A node's own time of a save. In the rest of the call ranks wait for each other, however they save.
        const double copy = seconds_from(batch.plan_seconds) + seconds_from(batch.copy_seconds);
        if (copy > 0) samples.save_rates.push_back(bytes / copy);
        const double drain = seconds_from(batch.drain_seconds);
        // Slow nodes are separate inputs.
        if (drain > 0 && !slow.contains(telemetry::node_name(batch))) samples.drain_rates.push_back(bytes / drain);
    }
    return samples;
}

// Nodes that drain early also wait for the last node, so the shortest wait is the commit itself.
std::map<std::uint64_t, double> commits_of(const telemetry::Chronicle& chronicle, const std::string& stream) {
    std::map<std::uint64_t, double> commits;
    for (const auto& batch : chronicle.batches) {
        if (batch.stream != stream || batch.drain_seconds <= 0) continue;
        const double seconds = seconds_from(batch.commit_seconds);
        const auto [at, is_new] = commits.emplace(batch.snapshot_id, seconds);
        if (!is_new) at->second = std::min(at->second, seconds);
    }
    return commits;
}

double copy_of(const telemetry::SnapshotRow& row) { return row.plan_seconds + row.copy_seconds; }

// Without the waits for late ranks, because late ranks compute meanwhile.
double visible_of(const telemetry::SnapshotRow& row) {
    return std::min(row.blocked_seconds, copy_of(row) + row.wait_seconds);
}

SaveSamples save_samples_of(const telemetry::Chronicle& chronicle, const telemetry::Summary& summary,
                            const std::string& stream) {
    SaveSamples samples;
    const auto commits = commits_of(chronicle, stream);
    const telemetry::SnapshotRow* before = nullptr;
    for (const auto& row : summary.rows) {
        if (row.stream != stream) continue;
        samples.saves.push_back(copy_of(row));
        samples.ranks.push_back(row.blocked_parts.ranks_seconds);
        samples.visibles.push_back(visible_of(row));
        if (row.drain_seconds > 0) {
            const auto commit = commits.find(row.snapshot_id);
            samples.commits.push_back(commit != commits.end() ? commit->second : 0);
            // In a plan, a drain ends with the commit.
            samples.drains.push_back(row.drain_seconds + samples.commits.back());
        }
        // Between two sessions there is a restart, not only computing.
        if (before != nullptr && before->session == row.session && row.interval_seconds > 0) {
            // The interval holds the save before it, then the computing.
            samples.computing.push_back(std::max(0.0, row.interval_seconds - visible_of(*before)));
            if (row.step > before->step) samples.steps.push_back(static_cast<double>(row.step - before->step));
        }
        before = &row;
    }
    return samples;
}

// A status line older than three periods is stale.
constexpr double stale_periods = 3;

// What the agents know of a job that computes now: its end, and how long the last node may still drain.
struct LiveJob {
    double ends_in_seconds = 0, ahead_seconds = 0;
};

LiveJob live_job_of(const telemetry::Chronicle& chronicle, double drain_rate) {
    LiveJob job;
    const auto now = sys::unix_ns();
    for (const auto& status : chronicle.statuses) {
        const double age = telemetry::seconds_between(status.unix_ns, now);
        if (!status.application_lives || age > stale_periods * status.period_seconds) continue;
        job.ahead_seconds = std::max(job.ahead_seconds, static_cast<double>(status.counts.backlog_bytes) / drain_rate);
        const double left = telemetry::seconds_between(now, status.job_ends_unix_ns);
        if (left > 0 && (job.ends_in_seconds == 0 || left < job.ends_in_seconds)) job.ends_in_seconds = left;
    }
    return job;
}

}  // namespace

Result<std::vector<format::Measure>> measures_of_run(const telemetry::Chronicle& chronicle, const std::string& wanted) {
    const auto summary = telemetry::summarize(chronicle);
    const auto stream = wanted.empty() ? largest_stream(summary) : wanted;
    const auto nodes = node_samples_of(chronicle, summary, stream);
    const auto saves = save_samples_of(chronicle, summary, stream);
    if (nodes.drain_rates.empty() || saves.drains.empty())
        return Error{ErrorKind::missing,
                     stream.empty()
                         ? fmt::format("{} has no snapshot that has drained", chronicle.run)
                         : fmt::format("stream {} of {} has no snapshot that has drained", stream, chronicle.run),
                     "", "forebay report " + chronicle.run};
    const auto from = fmt::format("{}, stream {}", chronicle.run, stream);
    std::vector<format::Measure> measures;
    const auto add = [&](const char* name, const std::vector<double>& samples) {
        if (!samples.empty()) measures.push_back(measure_of(name, samples, MeasureOrigin::kept, from));
    };
    const auto add_one = [&](const char* name, double value) { add(name, {value}); };
    std::uint32_t count = 0;
    for (const auto& row : summary.rows)
        if (row.stream == stream) count = std::max(count, row.nodes);
    add_one("nodes", count);
    add("node_bytes", nodes.bytes);
    add("save_rate_bytes_per_second", nodes.save_rates);
    add("drain_rate_bytes_per_second", nodes.drain_rates);
    add("commit_seconds", saves.commits);
    if (!summary.slow_nodes.empty() && count > 0) {
        std::vector<double> ratios;
        for (const auto& node : summary.slow_nodes) ratios.push_back(node.ratio);
        add_one("slow_node_share", static_cast<double>(ratios.size()) / count);
        add("slow_node_ratio", ratios);
    }
    const double every = saves.steps.empty() ? 1 : telemetry::median_of(saves.steps);
    const double drain = telemetry::median_of(saves.drains), computing = telemetry::median_of(saves.computing);
    if (computing > 0) {
        // The slowdown was measured beside drains, and drains ran beside only a part of the computing.
        const double cost = std::max(0.0, summary.slowdown_percent) / 100 * std::min(1.0, drain / computing);
        if (summary.slowdown_steps > 0) add_one("agent_cost_ratio", std::min(1.0, cost));
        auto steps = saves.computing;
        for (auto& step : steps) step /= every * (1 + (summary.slowdown_steps > 0 ? std::min(1.0, cost) : 0));
        add("step_seconds", steps);
        add_one("save_every_steps", every);
    }
    if (const double slots = telemetry::median_of(nodes.slots); slots > 0) add_one("slots", slots);
    const auto job = live_job_of(chronicle, telemetry::median_of(nodes.drain_rates));
    if (job.ends_in_seconds > 0) add_one("ends_in_seconds", job.ends_in_seconds);
    if (job.ahead_seconds > 0) add_one("ahead_seconds", job.ahead_seconds);
    add_one("measured_nodes", count);
    add_one("measured_node_bytes", telemetry::median_of(nodes.bytes));
    add("save_seconds", saves.saves);
    add("ranks_seconds", saves.ranks);
    add("drain_seconds", saves.drains);
    add("visible_seconds", saves.visibles);
    if (computing > 0 && drain > 0) add_one("slack", computing / drain);
    return measures;
}

}  // namespace forebay::advice
