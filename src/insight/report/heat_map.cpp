#include "insight/report/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "path/telemetry/chronicle.hpp"

namespace forebay::report {

namespace {

double middle_of(std::vector<double>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

double drain_rate(const format::TimingBatch& batch) {
    return batch.drain_seconds > 0 ? static_cast<double>(batch.stored_bytes) / batch.drain_seconds : 0;
}

HeatRow group_of(std::span<const HeatRow> rows, std::size_t columns) {
    HeatRow group{.name = fmt::format("{} nodes", rows.size()), .nodes = rows.size(), .rates = {}};
    for (std::size_t column = 0; column < columns; ++column) {
        std::vector<double> rates;
        for (const auto& row : rows)
            if (row.rates[column] > 0) rates.push_back(row.rates[column]);
        group.rates.push_back(middle_of(rates));
    }
    return group;
}

}  // namespace

HeatMap heat_map_of(std::span<const format::TimingBatch> batches) {
    using Key = std::tuple<std::string, std::int64_t, std::uint64_t>;  // identifies a save
    std::map<Key, std::int64_t> began;
    for (const auto& batch : batches) {
        if (drain_rate(batch) <= 0) continue;
        auto& at = began[{batch.stream, batch.step, batch.snapshot_id}];
        if (at == 0 || batch.drain_unix_ns < at) at = batch.drain_unix_ns;
    }
    std::vector<std::pair<std::int64_t, Key>> by_time;
    by_time.reserve(began.size());
    for (const auto& [key, at] : began) by_time.emplace_back(at, key);
    std::ranges::sort(by_time);
    // Only the newest saves get a column.
    if (by_time.size() > heat_columns_max)
        by_time.erase(by_time.begin(), by_time.end() - static_cast<std::ptrdiff_t>(heat_columns_max));
    HeatMap map;
    std::map<Key, std::size_t> places;
    for (const auto& [at, key] : by_time) {
        places[key] = map.columns.size();
        map.columns.push_back({std::get<0>(key), std::get<1>(key)});
    }
    std::map<std::string, HeatRow> nodes;
    for (const auto& batch : batches) {
        const auto place = places.find({batch.stream, batch.step, batch.snapshot_id});
        if (place == places.end() || drain_rate(batch) <= 0) continue;
        const auto name = telemetry::node_name(batch);
        auto& row = nodes[name];
        row.name = name;
        row.rates.resize(map.columns.size());
        row.rates[place->second] = drain_rate(batch);
    }
    std::vector<std::pair<double, HeatRow>> rows;
    for (auto& [name, row] : nodes) {
        std::vector<double> known_rates;
        std::ranges::copy_if(row.rates, std::back_inserter(known_rates), [](double rate) { return rate > 0; });
        rows.emplace_back(middle_of(known_rates), std::move(row));
    }
    std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.first; });
    for (auto& [rate, row] : rows) map.rows.push_back(std::move(row));
    // Rows are sorted, so the first rows are the slowest nodes. They stay single; the rest is grouped by neighbours.
    if (map.rows.size() <= heat_single_max + heat_groups_max) return map;
    const std::vector<HeatRow> rest(map.rows.begin() + heat_single_max, map.rows.end());
    map.rows.resize(heat_single_max);
    const auto groups = std::min(heat_groups_max, rest.size());
    for (std::size_t group = 0; group < groups; ++group) {
        const auto first = group * rest.size() / groups, end = (group + 1) * rest.size() / groups;
        map.rows.push_back(group_of(std::span(rest).subspan(first, end - first), map.columns.size()));
    }
    return map;
}

}  // namespace forebay::report
