// Eight bytes a step, each with a table of its own. Tests compare it with ISA-L.

#include <array>
#include <bit>
#include <cstring>

#include "core/base/crc64.hpp"

namespace forebay {

namespace {

constexpr std::uint64_t polynomial = 0xC96C5795D7870F42;
constexpr std::size_t step_bytes = 8;
using Tables = std::array<std::array<std::uint64_t, 256>, step_bytes>;

// tables[k][b]: the register after byte b and then k bytes of zero.
constexpr Tables make_tables() {
    Tables tables{};
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
        auto rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? polynomial : 0);
        tables[0][byte] = rest;
    }
    for (std::size_t zeros = 1; zeros < step_bytes; ++zeros)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const auto before = tables[zeros - 1][byte];
            tables[zeros][byte] = before >> 8 ^ tables[0][before & 0xFF];
        }
    return tables;
}

constexpr Tables tables = make_tables();

}  // namespace

std::uint64_t crc64_by_tables(std::span<const std::byte> bytes, std::uint64_t crc) {
    auto rest = ~crc;
    while (bytes.size() >= step_bytes) {
        static_assert(std::endian::native == std::endian::little);
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), sizeof word);
        rest ^= word;
        std::uint64_t next = 0;
        for (std::size_t i = 0; i < step_bytes; ++i) next ^= tables[step_bytes - 1 - i][rest >> (8 * i) & 0xFF];
        rest = next;
        bytes = bytes.subspan(step_bytes);
    }
    for (const auto byte : bytes) rest = rest >> 8 ^ tables[0][(rest ^ static_cast<std::uint64_t>(byte)) & 0xFF];
    return ~rest;
}

}  // namespace forebay
