// The statistics of numbers: their count, the least and the largest, and the exact sums of the numbers and of their
// squares. NaN and infinities are only counted. Adding and merging in any order gives the same bits.
//
// Floats are summed by thousands at a time (moments_kernels.hpp), in doubles without rounding. To allow this, one pass
// takes only floats within a factor of 2^22; smaller floats get a further pass.
//
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <span>

#include "insight/insitu/exact_sum.hpp"

namespace forebay::insitu {

/// -0 is less than 0.
template <class T>
struct Extremes {
    T least{}, largest{};
};

template <class T>
class Moments {
public:
    void add(std::span<const T> values);
    void merge(const Moments& other);

    std::uint64_t count() const { return count_; }  // of finite numbers
    std::uint64_t nan() const { return nan_; }
    std::uint64_t infinite() const { return infinite_; }
    /// Valid if count() is not 0.
    const Extremes<T>& extremes() const { return extremes_; }

    /// The nearest double.
    double sum() const { return sum_.rounded(); }
    /// The double nearest to the exact mean; NaN if count() is 0.
    double mean() const;
    /// The mean squared distance from the exact mean, as the nearest double, even if the mean is very large. NaN if
    /// count() is 0.
    double variance() const;

    void write(PartWriter& part) const;
    Result<> read(PartReader& part);

private:
    void widen(const Extremes<T>& by);
    std::uint64_t count_ = 0, nan_ = 0, infinite_ = 0;
    Extremes<T> extremes_;  // of the count_ finite numbers
    ExactSum sum_, squares_;
};

template <>
void Moments<float>::add(std::span<const float> values);
template <>
void Moments<double>::add(std::span<const double> values);

extern template class Moments<float>;
extern template class Moments<double>;
extern template class Moments<std::int32_t>;
extern template class Moments<std::int64_t>;
extern template class Moments<std::uint32_t>;
extern template class Moments<std::uint64_t>;

}  // namespace forebay::insitu
