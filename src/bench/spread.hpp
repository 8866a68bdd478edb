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

/// The sample below which this fraction of them lies, as quartiles do; 0 where there is none.
double at_fraction(std::vector<double> samples, double fraction);

struct ConfidenceInterval {
    double low = 0, high = 0;
};
/// Where the median lies with 95 % probability, as far as these samples tell: the 2.5th to the 97.5th percentile of the
/// medians of 2,000 resamples (Efron's percentile bootstrap). The same samples give the same interval. Of fewer than
/// five samples it is no more than their range; of one or none both ends are that one, or 0.
ConfidenceInterval median_interval(const std::vector<double>& samples);

/// a[i] / b[i]; of runs that were made in turns, each with its neighbour. Equal sizes.
std::vector<double> ratios_of(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace forebay::bench
