#include "insight/foreign/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "insight/foreign/bytes.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign {

namespace {

constexpr std::uint64_t exponent_bits = 0x7ff0'0000'0000'0000;
constexpr std::uint64_t negative_zero = 0x8000'0000'0000'0000;
constexpr std::uint64_t negative_integer = 0xffff'0000'0000'0000;  // small negative integers begin with these bits

// As a float the word would be denormal, or a NaN that no arithmetic makes.
bool is_integer_word(std::uint64_t word) {
    return (word & exponent_bits) == 0 || (word & negative_integer) == negative_integer;
}

// A small number is a count, an index or a flag, and hardly half of an address.
bool is_small(std::int64_t number) {
    constexpr auto most = static_cast<std::int64_t>(limits::grid_points_max);
    return number >= -most && number <= most;
}

}  // namespace

Type guess_type(std::span<const std::byte> sample, std::uint64_t size_bytes, bool big_endian) {
    if (size_bytes % 4 != 0) return u8;
    if (size_bytes % 8 != 0) return i32;
    std::size_t words = 0, numbers = 0;
    bool wide = true, pairs = true;
    for (std::size_t at = 0; at + 8 <= sample.size(); at += 8) {
        const auto word = load<std::uint64_t>(sample.data() + at, big_endian);
        ++words;
        // Zeros fit every type.
        if (word == 0 || word == negative_zero) continue;
        ++numbers;
        if (!is_integer_word(word)) return f64;
        wide = wide && is_small(static_cast<std::int64_t>(word));
        pairs = pairs && is_small(load<std::int32_t>(sample.data() + at, big_endian)) &&
                is_small(load<std::int32_t>(sample.data() + at + 4, big_endian));
    }
    // Mostly zeros say little: unset memory also looks so.
    if (numbers == 0 || 2 * numbers < words) return f64;
    return wide ? i64 : pairs ? i32 : f64;
}

bool is_real(std::span<const std::byte> sample, bool big_endian) {
    bool any = false;
    for (std::size_t at = 0; at + 8 <= sample.size(); at += 8) {
        const auto size = std::abs(load<double>(sample.data() + at, big_endian));
        if (size == 0) continue;
        if (!((size >= 1e-30 && size <= 1e30) || size == std::numeric_limits<double>::max())) return false;
        any = true;
    }
    return any;
}

bool is_text(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte >= std::byte{0x20} && byte < std::byte{0x7f}; });
}

}  // namespace forebay::foreign
