// Counts the values of a variable in each bin of an axis (bin_axis.hpp), below it, above it, and NaN.
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
    static constexpr int cells_a_bin = 4;  // bin_axis.hpp explains its effect

    explicit Histogram(BinAxis axis) : axis_(std::move(axis)), counts_(axis_.places()) {}

    /// Takes at most RealNumbers::chunk_count values.
    void add(std::span<const double> values);
    void merge(const Histogram& other);

    const BinAxis& axis() const { return axis_; }
    /// One count for each of axis().bins() bins.
    std::vector<std::uint64_t> bins() const;
    std::uint64_t below() const { return counts_[axis_.below()]; }
    std::uint64_t above() const { return counts_[axis_.above()]; }
    std::uint64_t nan() const { return counts_[axis_.nan()]; }

    void write(PartWriter& part) const;
    /// Call it only on an empty histogram of the same options; otherwise `corrupt`.
    Result<> read(PartReader& part);

private:
    void grow(const BinAxis::Growth& by);

    BinAxis axis_;
    std::vector<std::uint64_t> counts_;  // axis_.places() of them
    std::array<std::uint32_t, RealNumbers::chunk_count> places_{};
};

}  // namespace forebay::insitu
