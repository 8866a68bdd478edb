// What to do about what a summary shows: sentences with the numbers behind them. Where there is a line to paste, it
// stands behind "\n  ".

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

/// Of a stream, beside its rows.
struct StreamNeeds {
    std::uint32_t slots = 0;                       // on any node
    std::uint64_t node_bytes_most = 0;             // of one snapshot: what another slot costs a node
    std::uint64_t drains = 0, limited_drains = 0;  // is_limited()
    std::uint64_t limit_bytes_per_second = 0;      // of the last of these
    std::uint32_t nodes = 0;                       // most of any snapshot
    std::string file;                              // TimingBatch::file of the last one
};
using Needs = std::map<std::string, StreamNeeds>;

Needs needs_of(const Chronicle& chronicle);

std::vector<std::string> advice_for(const Summary& summary, const Needs& needs);

}  // namespace forebay::telemetry
