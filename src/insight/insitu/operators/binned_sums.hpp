// Many sums side by side, each the same bits whatever the order of its values and however they are dealt out to nodes.
//
// A sum is kept as `bins` whole numbers ("limbs") of the units 2^(32 J), 2^(32 (J - 1)), ..., where J, the sum's level,
// is that of its largest value so far: |value| < 2^(32 J + 31). A value is split by rounding it to the first unit, its
// rest to the second one, and so on; what is left after the last is dropped. Units stand fixed on the number line, so
// what is kept of a value depends on the last level alone and not on when it came: additions of limbs are exact, and
// raising the level drops the very limbs that a value would not have left at the higher one: a value is less than half
// a unit of any level above its own, so it rounds to 0 there. (Demmel and Nguyen, "Fast reproducible floating-point
// summation", 2013; here with limbs that need no carry for terms_max values.)
//
// Error of a sum of n values, the largest of them v: at most n |v| 2^-32 with 2 bins and n |v| 2^-64 with 3, and one
// rounding of the result to f64; nothing at all for integers up to 32 bits with 2. Values beyond 2^959 count as
// infinite, those below 2^-1025 as 0.
//
// Cost with 2 bins: 17 bytes of memory, and of a part; about 1 ns a value.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forebay/describe.hpp"
#include "insight/insitu/part_bytes.hpp"

namespace forebay::insitu {

class BinnedSums {
public:
    /// Of each sum, of all nodes together: with so many values of 2^32 units no limb is rounded.
    static constexpr std::uint64_t terms_max = 1u << 20;
    /// For f32, f16 and integers up to 32 bits, and for all else.
    static constexpr int bins_of_single = 2, bins_of_double = 3;
    static constexpr int bins_of(Type type) { return type.size_bytes > 4 ? bins_of_double : bins_of_single; }

    /// `count` sums of nothing, which are 0.
    BinnedSums(std::size_t count, int bins);

    std::size_t count() const { return levels_.size(); }
    int bins() const { return bins_; }

    /// values[i * by] to sum `first` + i.
    void add_each(std::size_t first, std::span<const double> values, std::size_t by = 1);
    /// All of them to sum `at`.
    void add_all(std::size_t at, std::span<const double> values);
    /// Sum i of `other`, which has as many bins, to sum `at`.
    void add_sum(std::size_t at, const BinnedSums& other, std::size_t i);

    /// As f64: NaN where a value was NaN or infinities of both signs were, else infinite where one was.
    double value(std::size_t i) const;

    void write(PartWriter& to) const;
    /// Of `count` sums; false where what is there cannot be what write() wrote. Nothing is reserved before it is there.
    bool read(PartReader& from, std::size_t count);

private:
    void add_one(std::size_t at, double value);
    void raise(std::size_t at, std::int8_t level);
    int bins_;
    std::vector<std::int8_t> levels_;           // of each sum
    std::array<std::vector<double>, 3> limbs_;  // as values, multiples of their units
    std::vector<std::uint8_t> specials_;        // NaN, infinities, as bits; empty where there are none
};

}  // namespace forebay::insitu
