// Many sums side by side. Each has the same bits for any order of its values and any distribution over nodes.
//
// A sum is kept as `bins` whole numbers ("limbs") of the units 2^(32 J), 2^(32 (J - 1)), ..., where J is the level of
// the sum. Its largest value so far sets the level: |value| < 2^(32 J + 31). A value is split: it is rounded to the
// first unit, its rest to the second unit, and so on; the rest after the last unit is dropped. Units are fixed on the
// number line, so the kept bits of a value depend only on the final level, not on the time of its addition. Additions
// of limbs are exact. Raising the level drops exactly the limbs that a value would not have at the higher level: a
// value is below half a unit of any level above its own, so it rounds to 0 there. (Demmel and Nguyen, "Fast
// reproducible floating-point summation", 2013; here limbs need no carry for terms_max values.)
//
// Error of a sum of n values with the largest value v: at most n |v| 2^-32 with 2 bins and n |v| 2^-64 with 3, and one
// rounding of the result to f64. Integers up to 32 bits are exact with 2 bins. Values beyond 2^959 count as infinite,
// values below 2^-1025 as 0.
//
// Cost with 2 bins: 17 bytes in memory and in a part, and about 1 ns a value.

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
    /// The most values of a sum, over all nodes. So many values of 2^32 units fit a limb without rounding.
    static constexpr std::uint64_t terms_max = 1u << 20;
    /// Bins for f32, f16 and integers up to 32 bits; and for all other types.
    static constexpr int bins_of_single = 2, bins_of_double = 3;
    static constexpr int bins_of(Type type) { return type.size_bytes > 4 ? bins_of_double : bins_of_single; }

    /// Starts `count` empty sums; their value is 0.
    BinnedSums(std::size_t count, int bins);

    std::size_t count() const { return levels_.size(); }
    int bins() const { return bins_; }

    /// Adds values[i * by] to sum `first` + i.
    void add_each(std::size_t first, std::span<const double> values, std::size_t by = 1);
    /// Adds all values to sum `at`.
    void add_all(std::size_t at, std::span<const double> values);
    /// Adds sum i of `other` to sum `at`. Both have the same number of bins.
    void add_sum(std::size_t at, const BinnedSums& other, std::size_t i);

    /// The sum as f64. NaN if a value was NaN, or if infinities of both signs were added; infinite after one infinity.
    double value(std::size_t i) const;

    void write(PartWriter& to) const;
    /// Reads `count` sums. False if write() cannot have written the bytes. Allocates only for bytes that exist.
    bool read(PartReader& from, std::size_t count);

private:
    void add_one(std::size_t at, double value);
    void raise(std::size_t at, std::int8_t level);
    int bins_;
    std::vector<std::int8_t> levels_;           // of each sum
    std::array<std::vector<double>, 3> limbs_;  // as multiples of their units
    std::vector<std::uint8_t> specials_;        // bits for NaN and infinities; empty if there are none
};

}  // namespace forebay::insitu
