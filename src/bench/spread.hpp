// What repeated measurements of one thing say: the median and how far they spread. Pure arithmetic.

#pragma once

#include <cstddef>
#include <vector>

namespace forebay::bench {

struct Quartiles {
    double median = 0;
    double min = 0, max = 0;
    double lower_quartile = 0, upper_quartile = 0;
    std::size_t count = 0;
};

/// Quartiles lie between two samples in proportion (as numpy's default does). No samples give zeros and count 0.
Quartiles spread_of(std::vector<double> samples);

/// a[i] / b[i]; of runs that were made in turns, each with its neighbour. Equal sizes.
std::vector<double> ratios_of(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace forebay::bench
