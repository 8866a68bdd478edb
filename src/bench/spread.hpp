// Statistics of repeated measurements: median and spread. Pure arithmetic.

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

/// Quartiles are interpolated between two samples (numpy's default). Without samples all values are 0.
Quartiles spread_of(std::vector<double> samples);

/// The sample with this fraction of samples below it, interpolated as quartiles are; 0 without samples.
double at_fraction(std::vector<double> samples, double fraction);

struct ConfidenceInterval {
    double low = 0, high = 0;
};
/// A 95 % confidence interval of the median: the 2.5th to 97.5th percentile of the medians of 2,000 resamples (Efron's
/// percentile bootstrap). Equal samples give equal intervals. For fewer than five samples it is at most their range;
/// for one sample both ends are equal, for none 0.
ConfidenceInterval median_interval(const std::vector<double>& samples);

/// a[i] / b[i], each run with its neighbour in turn. Sizes must be equal.
std::vector<double> ratios_of(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace forebay::bench
