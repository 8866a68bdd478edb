// The exact sum of any finite doubles and of their squares: an integer of 4480 bits whose lowest one stands for
// 2^-2176, below the square of the least double. Adding rounds nothing, so the order of what is added changes nothing,
// and equal sums have equal bytes. What is not finite is left out, and counted, by whoever adds.
//
// Threads: one at a time.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "forebay/result.hpp"
#include "insight/insitu/part_bytes.hpp"

namespace forebay::insitu {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 WideUnsigned;

/// The highest bits of a number that may be larger or smaller than any double: `bits` times 2^`exponent`, and more if
/// `more`, but less than one of `bits` more.
struct Leading {
    std::uint64_t bits = 0;  // the highest one is set, unless the number is 0
    int exponent = 0;
    bool negative = false;
    bool more = false;

    /// The nearest double, of two equally near ones the even one; infinite where the number is larger than all of them.
    double rounded() const;
    /// The number over `divisor`, which is not 0.
    Leading over(std::uint64_t divisor) const;
};

class ExactSum {
public:
    static constexpr int limbs_count = 140;  // of 32 bits: squares of doubles reach 2^2048, and 2^64 may be added
    static constexpr int lowest_exponent = -2176;

    /// A finite one.
    void add(double value);
    /// Its square.
    void add_square(double value);
    /// `value` times 2^`exponent`; the exponent is between -2176 and 2050.
    void add(Wide value, int exponent);
    void merge(const ExactSum& other);

    Leading leading() const;
    double rounded() const { return leading().rounded(); }

    /// This sum times `count`, less the square of `other`: `count` squared times the variance of numbers of which this
    /// is the sum of squares and `other` the sum. Exact.
    ExactSum times_less_square(std::uint64_t count, const ExactSum& other) const;

    void write(PartWriter& part) const;
    /// `corrupt` unless write() wrote it.
    Result<> read(PartReader& part);

private:
    using Limbs = std::array<std::int64_t, limbs_count>;
    static void carry(Limbs& limbs);
    Limbs carried() const;
    void note_addition();

    Limbs limbs_{};                // each in units of 2^(32 * its index - 2176)
    std::uint32_t additions_ = 0;  // since the last carry()
};

}  // namespace forebay::insitu
