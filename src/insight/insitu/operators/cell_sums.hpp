// Exact sums of many cells. The order of additions changes no bit.
//
// A double is a whole number times a power of two. The powers are cut into fixed windows of 64 bits: window w counts in
// units of 2^(64 w - 1074). A number falls into one window or two. Each used window keeps an integer of 128 bits a
// cell. Weights of one unit need one or two windows (16 or 32 bytes a cell), if the largest is less than 10^19 times
// the least. The worst input needs 34 windows.
//
// A cell takes up to 2^44 numbers of one node. Up to 2^19 nodes may be merged.
//
// Threads: one at a time.

#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "forebay/result.hpp"
#include "insight/insitu/exact_sum.hpp"
#include "insight/insitu/part_bytes.hpp"

namespace forebay::insitu {

class CellSums {
public:
    explicit CellSums(std::size_t cells) : cells_(cells) {}

    /// `number` must be finite.
    void add(std::size_t cell, double number);
    /// The sums, each rounded once.
    std::vector<double> rounded() const;

    /// Writes for each window: the cells that are not 0, and the low and high halves of their integers.
    void write(PartWriter& part) const;
    /// Adds a part from write(); `corrupt` if it is damaged.
    Result<> merge(PartReader& part);

private:
    static constexpr int windows_max = 34;
    void add_to(std::size_t window, std::size_t cell, Wide integer);
    double rounded(std::size_t cell) const;

    std::size_t cells_;
    std::array<std::vector<Wide>, windows_max> windows_;  // empty, or one integer a cell
};

}  // namespace forebay::insitu
