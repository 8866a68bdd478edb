// The drain rate of each node and snapshot, as a picture of bounded size. The slowest nodes get a row each, slowest
// first. The rest follows in groups of similar speed. 10,000 nodes make 64 rows of one node and 32 of 311 each.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/format/timing.hpp"

namespace forebay::report {

struct HeatColumn {
    std::string stream;
    std::int64_t step = 0;
};

struct HeatRow {
    std::string name;  // of a node, or "311 nodes"
    std::uint64_t nodes = 1;
    std::vector<double> rates;  // bytes a second, one a column; a group's median; 0: unknown
};

struct HeatMap {
    std::vector<HeatColumn> columns;  // the newest snapshots, by time
    std::vector<HeatRow> rows;        // slowest first, by the median of a node's rates
};

inline constexpr std::size_t heat_columns_max = 120, heat_single_max = 64, heat_groups_max = 32;

HeatMap heat_map_of(std::span<const format::TimingBatch> batches);

}  // namespace forebay::report
