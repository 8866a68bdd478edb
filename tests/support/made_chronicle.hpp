// The chronicle of an invented run, as its agents would have written it. For tests of computations and displays.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/format/timing.hpp"
#include "path/telemetry/chronicle.hpp"

namespace forebay::test {

struct MadeRun {
    std::uint32_t nodes = 8, node_ranks = 4;
    int snapshots = 10;
    std::uint64_t node_bytes = 512ull << 20, write_bytes = 16u << 20;
    std::uint32_t targets = 0;  // 0: no layout is known, and the only target is ""
    double interval_seconds = 60;
    double node_rate = 400e6;  // bytes per second of a healthy node's drain
    int slow_node = -1, slow_target = -1;
    double slow_node_ratio = 0.3, slow_target_ratio = 0.02;
    double noise = 0.05;
    unsigned seed = 1;
    std::int64_t begin_unix_ns = 1'795'420'000'000'000'000;
    std::string stream = "restart";
};

inline format::Timing made_timing(format::TimingKind kind, std::int64_t start_unix_ns, double seconds,
                                  std::uint64_t bytes = 0, std::uint32_t source = format::agent_source) {
    return {.start_unix_ns = static_cast<std::uint64_t>(start_unix_ns),
            .duration_us = static_cast<std::uint32_t>(std::max(0.0, seconds * 1e6)),
            .kib = static_cast<std::uint32_t>((bytes + 1023) >> 10),
            .kind = static_cast<std::uint16_t>(kind),
            .flags = source};
}

/// The timings of the ranks of a node for one save.
inline void add_made_saves(const MadeRun& run, std::int64_t begin, format::TimingBatch& batch) {
    const auto ms = [](std::int64_t milliseconds) { return milliseconds * 1'000'000; };
    for (std::uint32_t rank = 0; rank < run.node_ranks; ++rank) {
        const auto bytes = run.node_bytes / run.node_ranks;
        batch.timings.push_back(made_timing(format::TimingKind::save, begin, 0.5, bytes, rank));
        batch.timings.push_back(made_timing(format::TimingKind::plan, begin, 0.01, 0, rank));
        batch.timings.push_back(made_timing(format::TimingKind::copy, begin + ms(10), 0.4, bytes, rank));
        batch.timings.push_back(made_timing(format::TimingKind::agree, begin + ms(410), 0.09, 0, rank));
    }
}

/// One node's batch of a snapshot. The ranks save in 0.5 s. The drain writes block after block, round robin over the
/// targets. Then come 50 ms of sync and 20 ms of commit.
inline format::TimingBatch made_batch(const MadeRun& run, std::uint32_t node, int snapshot, std::mt19937& random) {
    std::lognormal_distribution<double> noise(0, run.noise);
    const auto ns = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9); };
    format::TimingBatch batch{.host = "nid" + std::to_string(10000 + node),
                              .virtual_node = "0",
                              .agent = "process",
                              .stream = run.stream,
                              .step = 100 * (snapshot + 1),
                              .snapshot_id = static_cast<std::uint64_t>(snapshot) + 1,
                              .session = 1,
                              .node = node,
                              .nodes = run.nodes,
                              .node_ranks = run.node_ranks,
                              .ranks = run.nodes * run.node_ranks,
                              .outcome = node == 0 ? "committed" : "found_committed",
                              .bytes = run.node_bytes,
                              .stored_bytes = run.node_bytes,
                              .slots = 1};
    const auto begin = run.begin_unix_ns + ns(run.interval_seconds * snapshot);
    batch.saved_unix_ns = begin;
    batch.interval_seconds = snapshot == 0 ? 0 : run.interval_seconds;
    batch.copy_seconds = 0.4;
    batch.plan_seconds = 0.01;
    batch.blocked_seconds = 0.5;
    batch.blocked_parts = {.copy_seconds = 0.4, .layout_seconds = 0.01, .ranks_seconds = 0.09};
    batch.file = "own";
    add_made_saves(run, begin, batch);
    batch.sealed_unix_ns = begin + ns(0.5);
    batch.drain_unix_ns = batch.sealed_unix_ns + ns(0.001);
    const double rate =
        run.node_rate * noise(random) * (static_cast<int>(node) == run.slow_node ? run.slow_node_ratio : 1.0);
    batch.targets.resize(std::max<std::uint32_t>(run.targets, 1));
    for (std::uint32_t target = 0; target < run.targets; ++target) {
        const auto number = std::to_string(target);
        batch.targets[target].name = "OST" + std::string(4 - std::min<std::size_t>(number.size(), 4), '0') + number;
    }
    auto at = batch.drain_unix_ns;
    for (std::uint64_t written = 0; written < run.node_bytes; written += run.write_bytes) {
        const auto index = static_cast<std::uint16_t>((written / run.write_bytes + node) % batch.targets.size());
        const auto bytes = std::min(run.write_bytes, run.node_bytes - written);
        const bool slow = run.targets > 0 && index == run.slow_target;
        const double seconds = static_cast<double>(bytes) / rate / (slow ? run.slow_target_ratio : 1.0);
        auto write = made_timing(format::TimingKind::write, at, seconds, bytes);
        write.target = index;
        batch.timings.push_back(write);
        auto& target = batch.targets[index];
        if (target.writes++ == 0) target.first_unix_ns = at;
        target.bytes += bytes;
        target.busy_seconds += seconds;
        at += ns(seconds);
        target.last_unix_ns = at;
    }
    batch.timings.push_back(made_timing(format::TimingKind::sync, at, 0.05));
    batch.sync_seconds = 0.05;
    at += ns(0.05);
    batch.drained_unix_ns = at;
    batch.drain_seconds = static_cast<double>(at - batch.drain_unix_ns) * 1e-9;
    batch.drain_cpu_seconds = batch.drain_seconds / 10;
    batch.timings.push_back(
        made_timing(format::TimingKind::drain, batch.drain_unix_ns, batch.drain_seconds, run.node_bytes));
    batch.timings.push_back(made_timing(format::TimingKind::commit, at, 0.02));
    batch.commit_seconds = 0.02;
    batch.ended_unix_ns = at + ns(0.02);
    return batch;
}

inline telemetry::Chronicle made_chronicle(const MadeRun& run) {
    std::mt19937 random(run.seed);
    telemetry::Chronicle chronicle{.run = "/made/run"};
    for (int snapshot = 0; snapshot < run.snapshots; ++snapshot)
        for (std::uint32_t node = 0; node < run.nodes; ++node)
            chronicle.batches.push_back(made_batch(run, node, snapshot, random));
    // Some saves were skipped before each third snapshot.
    for (auto& batch : chronicle.batches) {
        if (batch.step == 100 || batch.step % 300 != 100) continue;
        batch.unkept_saves = 2 + batch.node % 2;
        batch.unkept_seconds = 0.25;
    }
    return chronicle;
}

/// Writes the files of the agents into the directory. The directory becomes a run without streams.
inline void write_chronicle(const telemetry::Chronicle& chronicle, const std::string& directory) {
    std::filesystem::create_directories(directory + "/forebay");
    for (const auto& batch : chronicle.batches) {
        const auto bytes = format::encode(batch);
        std::ofstream(directory + "/forebay/timings-" + batch.host + "-" + batch.virtual_node + ".bin",
                      std::ios::binary | std::ios::app)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    for (const auto& status : chronicle.statuses)
        std::ofstream(directory + "/forebay/status-" + status.host + "-" + status.virtual_node + ".json")
            << format::encode(status);
}

}  // namespace forebay::test
