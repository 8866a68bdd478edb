// How many values of a variable fall into each bin of an axis (bin_axis.hpp), below it, above it, and are NaN.
//
// Threads: one at a time.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "insight/insitu/bin_axis.hpp"
#include "insight/insitu/numbers.hpp"

namespace forebay::insitu {

class Histogram {
public:
    static constexpr int cells_a_bin = 4;  // bin_axis.hpp says what of it depends on this

    explicit Histogram(BinAxis axis) : axis_(std::move(axis)), counts_(axis_.places()) {}

    /// At most RealNumbers::chunk_count of them.
    void add(std::span<const double> values);
    void merge(const Histogram& other);

    const BinAxis& axis() const { return axis_; }
    /// Of axis().bins() bins.
    std::vector<std::uint64_t> bins() const;
    std::uint64_t below() const { return counts_[axis_.below()]; }
    std::uint64_t above() const { return counts_[axis_.above()]; }
    std::uint64_t nan() const { return counts_[axis_.nan()]; }

    void write(PartWriter& part) const;
    /// Into one of the same options to which nothing was added; else `corrupt`.
    Result<> read(PartReader& part);

private:
    void grow(const BinAxis::Growth& by);

    BinAxis axis_;
    std::vector<std::uint64_t> counts_;  // of axis_.places()
    std::array<std::uint32_t, RealNumbers::chunk_count> places_{};
};

}  // namespace forebay::insitu
