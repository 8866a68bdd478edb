// Which nodes and storage targets are slow, by their rates against the median of the others. A rule that names nothing
// in a healthy run; measured over made runs in slow_test.cpp.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::telemetry {

/// How fast one of many was, once: a target or a node in one snapshot.
struct RateSample {
    std::string name;
    double rate = 0;  // bytes a second, while it was written to
};

struct Slow {
    std::string name;
    double ratio = 0;           // median of its rates / median of all
    double z = 0;               // how far away: ln(1 / ratio) / deviation of the names from their median, by factors
    std::uint64_t samples = 0;  // of it
};

/// The slow ones, slowest first. A name is slow when its median is below 0.8 of the median over names, and that is not
/// chance: see slow.cpp. Fewer than four names are judged by nothing but a ratio below a half.
std::vector<Slow> slow_ones(const std::vector<RateSample>& samples);

}  // namespace forebay::telemetry
