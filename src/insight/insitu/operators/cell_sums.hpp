// Sums of many cells, exact: the order in which numbers come changes no bit.
//
// A double is a whole number times a power of two. Powers are cut into windows of 64 bits, which stand before the first
// number is seen: window w counts in units of 2^(64 w - 1074). A number falls into one window or two, and each window
// that any number falls into has an integer of 128 bits a cell. Weights of one unit, of which the largest is less than
// 10^19 times the least, take one window or two, so 16 or 32 bytes a cell; the worst input takes 34 windows.
//
// Each cell takes 2^44 numbers of one node, and 2^19 nodes may be merged.
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

    /// A finite one.
    void add(std::size_t cell, double number);
    /// The sums, each rounded once.
    std::vector<double> rounded() const;

    /// Of each window: lists of the cells that are not 0, and of their integers the low and the high halves.
    void write(PartWriter& part) const;
    /// Adds what write() has written. `corrupt` where it has not.
    Result<> merge(PartReader& part);

private:
    static constexpr int windows_max = 34;
    void add_to(std::size_t window, std::size_t cell, Wide integer);
    double rounded(std::size_t cell) const;

    std::size_t cells_;
    std::array<std::vector<Wide>, windows_max> windows_;  // empty, or an integer a cell
};

}  // namespace forebay::insitu
