// Finds slow nodes and storage targets by their rates against the median. The rule reports nothing in a healthy run;
// slow_test.cpp measures this over made runs.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::telemetry {

/// The rate of a target or of a node in one snapshot.
struct RateSample {
    std::string name;
    double rate = 0;  // bytes per second of write time
};

struct Slow {
    std::string name;
    double ratio = 0;           // median of its rates / median of all
    double z = 0;               // distance: ln(1 / ratio) / deviation of the names from their median, by factors
    std::uint64_t samples = 0;  // of this name
};

/// The slow names, slowest first. A name is slow if its median is below 0.8 of the median over names, and this is not
/// chance: see slow.cpp. With fewer than four names, only a ratio below 0.5 counts.
std::vector<Slow> slow_ones(const std::vector<RateSample>& samples);

}  // namespace forebay::telemetry
