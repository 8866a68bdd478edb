// The loops of Moments<float>. Included by moments.cpp alone.

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "insitu/vector_targets.hpp"

namespace forebay::insitu {

// Of floats that are looked at together: they stay in the first cache from the first pass to the last, and 1/16 of
// them, the share of a lane, is what the widths of SumBand allow.
inline constexpr std::size_t chunk_count = 4096;
inline constexpr std::size_t lanes_count = 16;

inline constexpr std::uint32_t float_infinity = 0x7F800000u;

/// The bits of a float as an integer of the same order; -0 is below 0. Its own inverse.
FB_KERNEL std::int32_t ordered(std::int32_t bits) { return bits ^ ((bits >> 31) & 0x7FFFFFFF); }

/// What a chunk holds, by the bits of its floats.
struct Reach {
    std::int32_t least = 0, largest = 0;  // ordered()
    std::uint32_t magnitude = 0;          // the largest without its sign; above float_infinity there is a NaN
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

/// Sums of the lanes: of the numbers, and of the upper and lower parts of their squares. All of them are exact.
struct Band {
    std::array<double, lanes_count> sum, high, low;
    std::uint32_t rest;  // the largest magnitude that was too small
};

/// Sums the floats of a chunk whose magnitudes are at least 2^(E-21) and at most `top`, where 2^E <= `top` < 2^(E+1).
/// A lane gets 256 = 2^8 numbers.
/// - Numbers: multiples of 2^(E-21-23), and a sum below 2^(E+9): 53 bits.
/// - Squares, 48 bits each: below 2^(2E+2), and multiples of 2^(2E-88). Their upper parts are multiples of 2^(2E-43): a
///   sum below 2^(2E+10) has 53 bits. Lower parts are at most 2^(2E-44): a sum of at most 2^(2E-36) has 52 bits.
/// A float's last bit is never below 2^-149, so from E = -105 down all that are left are summed.
struct SumBand {
    static constexpr int binades = 21;

    FB_KERNEL static void run(const float* values, std::size_t count, std::uint32_t top, Band* band) {
        const int biased = static_cast<int>(top >> 23);
        const int exponent = (biased > 0 ? biased : 1) - 127;
        const auto least = static_cast<std::int32_t>(biased > binades + 1 ? (biased - binades) << 23 : 1);
        // Adding it rounds a number below it to multiples of 2^(2E-43), taking it away again leaves that multiple.
        const double rounder = std::bit_cast<double>(static_cast<std::uint64_t>(2 * exponent + 9 + 1023) << 52);
        double sum[lanes_count] = {}, high[lanes_count] = {}, low[lanes_count] = {};
        std::int32_t rest[lanes_count] = {};
        const auto whole = count - count % lanes_count;
        for (std::size_t i = 0; i < whole; i += lanes_count)
            add(values + i, least, static_cast<std::int32_t>(top), rounder, sum, high, low, rest);
        if (whole < count) {
            float tail[lanes_count] = {};
            for (std::size_t j = 0; j < count - whole; ++j) tail[j] = values[whole + j];
            add(tail, least, static_cast<std::int32_t>(top), rounder, sum, high, low, rest);
        }
        std::int32_t most = 0;
        for (std::size_t j = 0; j < lanes_count; ++j) {
            band->sum[j] = sum[j];
            band->high[j] = high[j];
            band->low[j] = low[j];
            most = rest[j] > most ? rest[j] : most;
        }
        band->rest = static_cast<std::uint32_t>(most);
    }

private:
    FB_KERNEL static void add(const float* values, std::int32_t least, std::int32_t most, double rounder, double* sum,
                              double* high, double* low, std::int32_t* rest) {
        float used[lanes_count];
        for (std::size_t j = 0; j < lanes_count; ++j) {
            std::int32_t bits;
            std::memcpy(&bits, values + j, sizeof bits);
            const auto magnitude = bits & 0x7FFFFFFF;
            const bool is_in = magnitude >= least && magnitude <= most;
            const auto small = magnitude < least ? magnitude : 0;
            rest[j] = small > rest[j] ? small : rest[j];
            bits = is_in ? bits : 0;
            std::memcpy(used + j, &bits, sizeof bits);
        }
        for (std::size_t j = 0; j < lanes_count; ++j) {
            const auto value = static_cast<double>(used[j]);
            const double square = value * value;
            const double upper = (square + rounder) - rounder;
            sum[j] += value;
            high[j] += upper;
            low[j] += square - upper;
        }
    }
};

}  // namespace forebay::insitu
