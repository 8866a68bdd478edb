// Advice that follows from a summary: sentences with the numbers behind them. A line to paste stands behind "\n  ".

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

/// Facts of a stream beside its rows.
struct StreamNeeds {
    std::uint32_t slots = 0;                       // most of any node
    std::uint64_t node_bytes_most = 0;             // of one snapshot: the price of another slot on a node
    std::uint64_t drains = 0, limited_drains = 0;  // is_limited()
    std::uint64_t limit_bytes_per_second = 0;      // of the last limited drain
    std::uint32_t nodes = 0;                       // most of any snapshot
    std::string file;                              // TimingBatch::file of the last batch
};
using Needs = std::map<std::string, StreamNeeds>;

Needs needs_of(const Chronicle& chronicle);

std::vector<std::string> advice_for(const Summary& summary, const Needs& needs);

}  // namespace forebay::telemetry
