// The mixing step of splitmix64 (Steele, Lea and Flood, 2014).

#pragma once

#include <cstdint>

namespace forebay {

/// A number for `index` of the row `seed`: neighbours differ in half of their bits, and no two of a row are equal.
constexpr std::uint64_t splitmix(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t x = seed + 0x9E3779B97F4A7C15ull * (index + 1);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

}  // namespace forebay
