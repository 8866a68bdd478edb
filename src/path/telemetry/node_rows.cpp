#include "path/telemetry/node_rows.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "path/telemetry/median.hpp"

namespace forebay::telemetry {

namespace {

// A snapshot gives this many samples of a target, each over a group of nodes. A sample for each of 8,100 nodes would
// make a million.
constexpr std::uint32_t node_groups = 16;
// The largest share of a node's seconds that counts as lost at slow targets: the rest must still give a rate.
constexpr double lost_share_max = 0.999;
// As a share of the snapshot's median: nodes with fewer bytes are not compared.
constexpr double compared_share = 0.9;

struct TargetLoad {
    std::uint64_t bytes = 0, writes = 0;
    double busy_seconds = 0;
    std::int64_t last_unix_ns = 0;

    void add(const format::TimingTarget& target) {
        bytes += target.bytes;
        writes += target.writes;
        busy_seconds += seconds_from(target.busy_seconds);
        last_unix_ns = std::max(last_unix_ns, target.last_unix_ns);
    }
    double rate() const { return busy_seconds > 0 ? static_cast<double>(bytes) / busy_seconds : 0; }
};

double drain_rate(const format::TimingBatch& batch) {
    const double seconds = seconds_from(batch.drain_seconds);
    return seconds > 0 ? static_cast<double>(batch.bytes) / seconds : 0;
}

void add_compared(std::vector<RateSample> snapshot, std::vector<RateSample>& samples) {
    std::vector<double> rates;
    rates.reserve(snapshot.size());
    for (const auto& sample : snapshot) rates.push_back(sample.rate);
    const double median = median_of(rates);
    if (median <= 0) return;
    for (auto& sample : snapshot) samples.push_back({std::move(sample.name), sample.rate / median});
}

// The share of a node's write time that it would save without slow targets. A target at 0.1 of the median costs ten
// times the usual time: 0.9 of its seconds are lost.
double share_of_slow(const format::TimingBatch& batch, const std::map<std::string_view, double>& ratios) {
    double all = 0, lost = 0;
    for (const auto& target : batch.targets) {
        const double seconds = seconds_from(target.busy_seconds);
        all += seconds;
        if (const auto slow = ratios.find(target.name); slow != ratios.end()) lost += seconds * (1 - slow->second);
    }
    return all > 0 ? std::min(lost / all, lost_share_max) : 0;
}

}  // namespace

std::vector<NodeRow> nodes_of(const Chronicle& chronicle) {
    std::map<std::string, NodeRow> rows;
    std::map<std::string, std::vector<double>> rates;
    for (const auto& batch : chronicle.batches) {
        const auto name = node_name(batch);
        auto& row = rows[name];
        row.retries += batch.retries;
        row.failures += batch.outcome == "failed" ? 1 : 0;
        row.blocked_seconds += seconds_from(batch.blocked_seconds);
        const double rate = drain_rate(batch);
        if (rate <= 0) continue;
        ++row.drains;
        row.bytes += batch.bytes;
        row.drain_seconds += seconds_from(batch.drain_seconds);
        rates[name].push_back(rate);
    }
    std::vector<NodeRow> sorted;
    for (auto& [name, row] : rows) {
        row.name = name;
        row.rate = median_of(rates[name]);
        sorted.push_back(std::move(row));
    }
    return sorted;
}

std::vector<TargetRow> targets_of(const std::vector<Matched>& snapshots) {
    struct Known {
        TargetRow row;
        std::vector<double> rates;
    };
    std::map<std::string, Known> targets;
    for (const auto& snapshot : snapshots) {
        std::map<std::string_view, TargetLoad> loads;
        std::int64_t first_unix_ns = 0;
        for (const auto* batch : snapshot.batches)
            for (const auto& target : batch->targets) {
                if (target.writes == 0 && target.bytes == 0) continue;
                loads[target.name].add(target);
                if (target.first_unix_ns > 0 && (first_unix_ns == 0 || target.first_unix_ns < first_unix_ns))
                    first_unix_ns = target.first_unix_ns;
            }
        if (loads.empty()) continue;
        for (auto& [name, known] : targets) known.row.last_write_seconds = 0;  // it is for the newest snapshot only
        for (const auto& [name, load] : loads) {
            auto& [row, rates] = targets[std::string(name)];
            row.bytes += load.bytes;
            row.writes += load.writes;
            row.busy_seconds += load.busy_seconds;
            if (load.rate() > 0) rates.push_back(load.rate());
            if (first_unix_ns > 0) row.last_write_seconds = seconds_between(first_unix_ns, load.last_unix_ns);
        }
    }
    std::vector<TargetRow> rows;
    for (auto& [name, known] : targets) {
        known.row.name = name;
        known.row.rate = median_of(known.rates);
        rows.push_back(std::move(known.row));
    }
    return rows;
}

std::vector<RateSample> target_samples(const std::vector<Matched>& snapshots) {
    std::vector<RateSample> samples;
    for (const auto& snapshot : snapshots) {
        std::map<std::string_view, std::array<TargetLoad, node_groups>> loads;
        for (const auto* batch : snapshot.batches)
            for (const auto& target : batch->targets)
                if (!target.name.empty()) loads[target.name][batch->node % node_groups].add(target);
        std::vector<RateSample> own;
        for (const auto& [name, groups] : loads)
            for (const auto& load : groups)
                if (load.rate() > 0) own.push_back({std::string(name), load.rate()});
        add_compared(std::move(own), samples);
    }
    return samples;
}

std::vector<RateSample> node_samples(const std::vector<Matched>& snapshots, const std::vector<Slow>& slow_targets) {
    std::map<std::string_view, double> ratios;
    for (const auto& slow : slow_targets) ratios.emplace(slow.name, slow.ratio);
    std::vector<RateSample> samples;
    for (const auto& snapshot : snapshots) {
        // A node with fewer bytes has a low rate, because its sync takes as long as on all nodes. This does not make it
        // slow.
        std::vector<double> bytes;
        for (const auto* batch : snapshot.batches) bytes.push_back(static_cast<double>(batch->bytes));
        const double least_bytes = compared_share * median_of(bytes);
        std::vector<RateSample> own;
        for (const auto* batch : snapshot.batches) {
            const double rate = drain_rate(*batch);
            if (rate > 0 && static_cast<double>(batch->bytes) >= least_bytes)
                own.push_back({node_name(*batch), rate / (1 - share_of_slow(*batch, ratios))});
        }
        add_compared(std::move(own), samples);
    }
    return samples;
}

}  // namespace forebay::telemetry
