// The exact sum of any finite doubles and of their squares. It is an integer of 4480 bits; the lowest bit stands for
// 2^-2176, below the square of the least double. Nothing is rounded, so the order of additions does not matter, and
// equal sums have equal bytes. The caller must leave out and count values that are not finite.
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

/// The highest bits of a number, maybe beyond the range of doubles. The number is at least `bits` times 2^`exponent`.
/// If `more`, it is larger, but less than (`bits` + 1) times 2^`exponent`.
struct Leading {
    std::uint64_t bits = 0;  // the highest bit is set, unless the number is 0
    int exponent = 0;
    bool negative = false;
    bool more = false;

    /// The nearest double; a tie goes to the even double. Infinite if the number is above all doubles.
    double rounded() const;
    /// The number divided by `divisor`, which must not be 0.
    Leading over(std::uint64_t divisor) const;
};

class ExactSum {
public:
    static constexpr int limbs_count = 140;  // of 32 bits: squares reach 2^2048, and up to 2^64 may be added
    static constexpr int lowest_exponent = -2176;

    /// `value` must be finite.
    void add(double value);
    /// Adds the square of `value`, which must be finite.
    void add_square(double value);
    /// Adds `value` times 2^`exponent`, with an exponent from -2176 to 2050.
    void add(Wide value, int exponent);
    void merge(const ExactSum& other);

    Leading leading() const;
    double rounded() const { return leading().rounded(); }

    /// Returns this sum times `count`, minus the square of `other`, exactly. With sums of squares here and of numbers
    /// in `other`, the result is `count` squared times the variance.
    ExactSum times_less_square(std::uint64_t count, const ExactSum& other) const;

    void write(PartWriter& part) const;
    /// `corrupt` if write() did not write these bytes.
    Result<> read(PartReader& part);

private:
    using Limbs = std::array<std::int64_t, limbs_count>;
    static void carry(Limbs& limbs);
    Limbs carried() const;
    void note_addition();

    Limbs limbs_{};                // limb i counts units of 2^(32 * i - 2176)
    std::uint32_t additions_ = 0;  // since the last carry()
};

}  // namespace forebay::insitu
