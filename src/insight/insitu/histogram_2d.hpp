// Counts pairs of values in the cells of two axes (bin_axis.hpp). If a value of a pair is below or above its axis, or
// NaN, the pair counts as outside.
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

class Histogram2d {
public:
    static constexpr int cells_a_bin = 1;  // more would not fit into a core's cache; so only half of the bins are used
    static constexpr int bins_max = 2048;  // 34 MB of counts

    Histogram2d(BinAxis x, BinAxis y);

    /// Both have the same number of values, at most RealNumbers::chunk_count.
    void add(std::span<const double> x, std::span<const double> y);
    void merge(const Histogram2d& other);

    const BinAxis& x() const { return x_; }
    const BinAxis& y() const { return y_; }
    /// x().bins() times y().bins() counts, grouped by x.
    std::vector<std::uint64_t> bins() const;
    std::uint64_t outside() const;

    void write(PartWriter& part) const;
    /// Call it only on an empty histogram of the same options; otherwise `corrupt`.
    Result<> read(PartReader& part);

private:
    void grow(const BinAxis::Growth& by_x, const BinAxis::Growth& by_y);
    bool is_inside(std::size_t i, std::size_t j) const { return i < x_.cells() && j < y_.cells(); }

    BinAxis x_, y_;
    std::vector<std::uint64_t> counts_;  // x_.places() rows of y_.places()
    std::array<std::uint32_t, RealNumbers::chunk_count> rows_{}, columns_{};
};

}  // namespace forebay::insitu
