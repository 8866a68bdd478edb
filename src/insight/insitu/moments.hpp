// What statistics know of numbers: how many there are, the least and the largest, and the exact sums of them and of
// their squares. Of NaN and infinities there are counts; all else is of the finite numbers alone. Adding and merging in
// any order gives the same bits.
//
// Floats are summed by thousands at a time (moments_kernels.hpp): in doubles that round nothing, since those of one
// pass differ by a factor of at most 2^22; the smaller ones have a pass of their own.
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

    std::uint64_t count() const { return count_; }  // of the finite ones
    std::uint64_t nan() const { return nan_; }
    std::uint64_t infinite() const { return infinite_; }
    /// Where count() is not 0.
    const Extremes<T>& extremes() const { return extremes_; }

    /// The nearest double.
    double sum() const { return sum_.rounded(); }
    /// The double that is nearest to the exact mean; NaN where count() is 0.
    double mean() const;
    /// The mean of the squares of the distances from the exact mean: the nearest double, however large the mean is
    /// beside it. NaN where count() is 0.
    double variance() const;

    void write(PartWriter& part) const;
    Result<> read(PartReader& part);

private:
    void widen(const Extremes<T>& by);
    std::uint64_t count_ = 0, nan_ = 0, infinite_ = 0;
    Extremes<T> extremes_;  // of count_ numbers
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
