// Saturating sums and products of sizes from a description, which may be any 64-bit numbers.

#pragma once

#include <cstdint>

namespace forebay::format {

/// The limit of sums and products: far above any file, and two of them still fit 64 bits.
inline constexpr std::uint64_t beyond = std::uint64_t{1} << 62;

inline std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a >= beyond || b >= beyond - a ? beyond : a + b; }

inline std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) || product > beyond ? beyond : product;
}

}  // namespace forebay::format
