#include "base/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/crc32c_kernels.hpp"

namespace forebay {

namespace {

// Large enough that the call costs nothing, small enough that the block is still in L1 or L2 when it is copied.
constexpr std::size_t block_bytes = 16u << 10;

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0x82F63B78u : 0u);
        table[i] = crc;
    }
    return table;
}
constexpr auto table = make_table();

std::uint32_t portable_raw(const std::byte* from, std::size_t bytes, std::uint32_t state) {
    for (std::size_t i = 0; i < bytes; ++i)
        state = table[(state ^ std::to_integer<std::uint32_t>(from[i])) & 0xffu] ^ (state >> 8);
    return state;
}

std::uint32_t isal_raw(const std::byte* from, std::size_t bytes, std::uint32_t state) {
    // ISA-L takes a non-const pointer and an int length; it writes nothing.
    while (bytes > 0) {
        const auto now = std::min<std::size_t>(bytes, 1u << 30);
        state =
            crc32_iscsi(reinterpret_cast<unsigned char*>(const_cast<std::byte*>(from)), static_cast<int>(now), state);
        from += now;
        bytes -= now;
    }
    return state;
}

std::uint32_t portable_copy(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t state) {
    state = portable_raw(from, bytes, state);
    std::memcpy(to, from, bytes);
    return state;
}

std::uint32_t isal_copy(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t state) {
    while (bytes > 0) {
        const auto now = std::min(bytes, block_bytes);
        state = isal_raw(from, now, state);
        std::memcpy(to, from, now);
        to += now;
        from += now;
        bytes -= now;
    }
    return state;
}

struct Kernel {
    const char* name;
    std::uint32_t (*raw)(const std::byte*, std::size_t, std::uint32_t);
    std::uint32_t (*copy)(std::byte*, const std::byte*, std::size_t, std::uint32_t);
};

Kernel choose() {
    const char* wish = std::getenv("FOREBAY_CRC");
    const std::string_view wanted = wish != nullptr ? wish : "";
    if (wanted == "portable") return {"portable", portable_raw, portable_copy};
    if (wanted != "isal" && avx512_copy_works()) return {"avx512", isal_raw, avx512_copy_raw};
    return {"isal", isal_raw, isal_copy};
}

const Kernel& kernel() {
    static const Kernel chosen = choose();
    return chosen;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) {
    return ~kernel().raw(bytes.data(), bytes.size(), ~crc);
}

std::uint32_t crc32c_copy(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t crc) {
    return ~kernel().copy(to, from, bytes, ~crc);
}

const char* crc32c_kernel() { return kernel().name; }

}  // namespace forebay
