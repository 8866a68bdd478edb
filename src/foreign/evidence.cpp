#include "foreign/evidence.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "foreign/bytes.hpp"
#include "foreign/limits.hpp"

namespace forebay::foreign {

namespace {

constexpr std::uint64_t exponent_bits = 0x7ff0'0000'0000'0000;
constexpr std::uint64_t negative_zero = 0x8000'0000'0000'0000;
constexpr std::uint64_t negative_integer = 0xffff'0000'0000'0000;  // its small ones begin with these bits

// As a float the word would be denormal, or a not-a-number that no arithmetic makes.
bool is_integer_word(std::uint64_t word) {
    return (word & exponent_bits) == 0 || (word & negative_integer) == negative_integer;
}

}  // namespace

Type guess_type(std::span<const std::byte> sample, std::uint64_t size_bytes, bool big_endian) {
    if (size_bytes % 4 != 0) return u8;
    if (size_bytes % 8 != 0) return i32;
    bool any = false, wide = true;
    for (std::size_t at = 0; at + 8 <= sample.size(); at += 8) {
        const auto word = load<std::uint64_t>(sample.data() + at, big_endian);
        if (word == 0 || word == negative_zero) continue;
        any = true;
        if (!is_integer_word(word)) return f64;
        const auto number = static_cast<std::int64_t>(word);
        wide = wide && number >= -0x8000'0000ll && number <= 0x7fff'ffffll;
    }
    if (!any) return f64;
    return wide ? i64 : i32;
}

bool is_text(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte >= std::byte{0x20} && byte < std::byte{0x7f}; });
}

bool SurfaceWalk::take(std::span<const std::byte> elements, bool big_endian) {
    for (std::size_t at = 0; good_ && at + 8 <= elements.size(); at += 8) {
        if (skip_ > 0) {
            const auto passed = std::min<std::uint64_t>(skip_, (elements.size() - at) / 8);
            skip_ -= passed;
            at += passed * 8 - 8;
            continue;
        }
        const auto count = load<double>(elements.data() + at, big_endian);
        good_ = count >= 0 && count <= static_cast<double>(limits::grid_points_max) && count == std::floor(count) &&
                ++seen_ <= columns_;
        if (good_) skip_ = static_cast<std::uint64_t>(count);
    }
    return good_;
}

}  // namespace forebay::foreign
