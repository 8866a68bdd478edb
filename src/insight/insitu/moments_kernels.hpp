// The loops of Moments<float>. Only moments.cpp includes this.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "insight/insitu/vector_targets.hpp"

namespace forebay::insitu {

// Floats in a chunk: they stay in the first cache from the first pass to the last. A lane sums 1/8 of them, as many as
// SumBand's bit widths allow. The sums of 8 lanes stay in 16 registers of AVX2.
inline constexpr std::size_t chunk_count = 2048;
inline constexpr std::size_t lanes_count = 8;

inline constexpr std::uint32_t float_infinity = 0x7F800000u;

/// Maps the bits of a float to an integer of the same order; -0 comes below 0. Apply it twice to get the bits back.
FB_KERNEL std::int32_t ordered(std::int32_t bits) { return bits ^ ((bits >> 31) & 0x7FFFFFFF); }

/// The range of a chunk, by the bits of its floats.
struct Reach {
    std::int32_t least = 0, largest = 0;  // ordered()
    std::uint32_t magnitude = 0;          // the largest, without its sign; above float_infinity: a NaN
};

struct FindReach {
    FB_KERNEL static Reach run(const float* values, std::size_t count) {
        std::int32_t least = 0x7FFFFFFF, largest = -0x7FFFFFFF - 1, magnitude = 0;
        for (std::size_t i = 0; i < count; ++i) {
            std::int32_t bits;
            std::memcpy(&bits, values + i, sizeof bits);
            const auto key = ordered(bits);
            const auto without_sign = bits & 0x7FFFFFFF;
            least = key < least ? key : least;
            largest = key > largest ? key : largest;
            magnitude = without_sign > magnitude ? without_sign : magnitude;
        }
        return {least, largest, static_cast<std::uint32_t>(magnitude)};
    }
};

// Vectors of half of the lanes: gcc 12 makes no vectors from loops over lanes. If the processor has no such vectors,
// the compiler splits them.
using Doubles [[gnu::vector_size(32)]] = double;
using Floats [[gnu::vector_size(16)]] = float;
using Integers [[gnu::vector_size(16)]] = std::int32_t;

/// Sums by lane: of the numbers, and of the upper and lower parts of their squares. All of them are exact.
struct Band {
    std::array<double, lanes_count> sum, high, low;
    std::uint32_t rest;  // the largest magnitude below this band
};

/// Sums the floats of a chunk with magnitudes from 2^(E-21) to `top`, where 2^E <= `top` < 2^(E+1). A lane gets 256 =
/// 2^8 numbers.
/// - Numbers: multiples of 2^(E-21-23), and a sum below 2^(E+9): 53 bits.
/// - Squares, 48 bits each: below 2^(2E+2), and multiples of 2^(2E-88). Their upper parts are multiples of 2^(2E-43): a
///   sum below 2^(2E+10) has 53 bits. Lower parts are at most 2^(2E-44): a sum of at most 2^(2E-36) has 52 bits.
/// The last bit of a float is at least 2^-149, so from E = -105 down one pass sums all remaining floats.
struct SumBand {
    static constexpr int binades = 21;

    FB_KERNEL static void run(const float* values, std::size_t count, std::uint32_t top, Band* band) {
        const int biased = static_cast<int>(top >> 23);
        const int exponent = (biased > 0 ? biased : 1) - 127;
        const auto too_small = static_cast<std::int32_t>(biased > binades + 1 ? (biased - binades) << 23 : 1) - 1;
        const auto too_large = static_cast<std::int32_t>(top) + 1;
        // Adding and subtracting `rounder` rounds a smaller number to a multiple of 2^(2E-43).
        const double rounder = std::bit_cast<double>(static_cast<std::uint64_t>(2 * exponent + 9 + 1023) << 52);
        Doubles sum[2] = {}, high[2] = {}, low[2] = {};
        Integers rest[2] = {};
        const auto add = [&](const float* from) __attribute__((always_inline)) {
            for (std::size_t half = 0; half < 2; ++half) {
                Integers bits;
                std::memcpy(&bits, from + half * lanes_count / 2, sizeof bits);
                const Integers magnitude = bits & 0x7FFFFFFF;
                const Integers is_large = magnitude > too_small, small = magnitude & ~is_large;
                rest[half] = small > rest[half] ? small : rest[half];
                bits &= is_large & (magnitude < too_large);
                const auto value = __builtin_convertvector(std::bit_cast<Floats>(bits), Doubles);
                const Doubles square = value * value;
                const Doubles upper = (square + rounder) - rounder;
                sum[half] += value;
                high[half] += upper;
                low[half] += square - upper;
            }
        };
        const auto whole = count - count % lanes_count;
        for (std::size_t i = 0; i < whole; i += lanes_count) add(values + i);
        if (whole < count) {
            float tail[lanes_count] = {};
            std::memcpy(tail, values + whole, (count - whole) * sizeof(float));
            add(tail);
        }
        band->rest = 0;
        for (std::size_t lane = 0; lane < lanes_count; ++lane) {
            const auto half = lane * 2 / lanes_count, at = lane % (lanes_count / 2);
            band->sum[lane] = sum[half][at];
            band->high[lane] = high[half][at];
            band->low[lane] = low[half][at];
            band->rest = std::max(band->rest, static_cast<std::uint32_t>(rest[half][at]));
        }
    }
};

}  // namespace forebay::insitu
