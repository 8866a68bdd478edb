// Little-endian integers in byte sequences, and rounding to alignments.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace forebay {

static_assert(std::endian::native == std::endian::little,
              "node files are little-endian; a big-endian port must swap here");

template <class T>
T load_le(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
void store_le(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

/// The smallest multiple of `step` that is not below `value`; `step` is a power of two.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) & ~(step - 1); }
constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t step) { return value & ~(step - 1); }

inline std::span<const std::byte> bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace forebay
