#include "s3/crc_join.hpp"

namespace forebay::s3 {

namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected: the highest bit is the factor of x^0

// The product of two polynomials modulo that of CRC32C.
std::uint32_t product(std::uint32_t one, std::uint32_t other) {
    std::uint32_t result = 0;
    for (std::uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
        if ((one & bit) != 0) result ^= other;
        other = (other & 1u) != 0 ? other >> 1 ^ polynomial : other >> 1;
    }
    return result;
}

}  // namespace

// Behind `bytes` zeros a checksum is multiplied by x to the power of 8 times so many; initial and final inversions of
// both cancel each other.
std::uint32_t joined_crc32c(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
    std::uint32_t power = 1u << 31, square = 1u << 23;  // x^0, and x^8 for one byte
    for (auto bytes = second_bytes; bytes != 0; bytes >>= 1) {
        if ((bytes & 1u) != 0) power = product(power, square);
        square = product(square, square);
    }
    return product(first, power) ^ second;
}

}  // namespace forebay::s3
