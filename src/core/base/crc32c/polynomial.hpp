// Arithmetic modulo the Castagnoli polynomial, at compile time, for the constants of the kernels. Numbers are
// reflected: bit 31 is x^0.

#pragma once

#include <cstdint>

namespace forebay::crc32c_kernels {

namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // x^32 is implied

constexpr std::uint32_t times_x(std::uint32_t value) { return (value >> 1) ^ ((value & 1u) != 0 ? polynomial : 0u); }

constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) {
    std::uint32_t sum = 0;
    for (std::uint32_t bit = 0x80000000u; bit != 0; bit >>= 1) {
        if ((a & bit) != 0) sum ^= b;
        b = times_x(b);
    }
    return sum;
}

constexpr std::uint32_t power_of_x(std::uint64_t exponent) {
    std::uint32_t value = 0x80000000u, square = 0x40000000u;  // 1 and x
    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1u) != 0) value = product(value, square);
        square = product(square, square);
    }
    return value;
}

struct ByteTable {
    std::uint32_t of[256];
};

/// For each byte value added to the low end of a register: its effect on the register `bytes` bytes later.
constexpr ByteTable table_after(std::uint64_t bytes) {
    ByteTable table{};
    const auto factor = power_of_x(8 * bytes);
    for (std::uint32_t bit = 1; bit < 256; bit <<= 1) table.of[bit] = product(bit, factor);
    for (std::uint32_t i = 1; i < 256; ++i) table.of[i] = table.of[i & (i - 1)] ^ table.of[i & (0u - i)];
    return table;
}

}  // namespace

}  // namespace forebay::crc32c_kernels
