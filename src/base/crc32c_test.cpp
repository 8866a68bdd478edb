// Goal: every kernel gives the CRC32C of RFC 3720 and copies every byte, at any size and alignment.
// Method: published vectors; then all kernels that this CPU has against a bit-by-bit reference.

#include "base/crc32c.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/crc32c_kernels.hpp"

using namespace forebay;

namespace {

std::uint32_t reference(std::span<const std::byte> bytes, std::uint32_t crc = 0) {
    crc = ~crc;
    for (const auto byte : bytes) {
        crc ^= std::to_integer<std::uint32_t>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0x82F63B78u : 0u);
    }
    return ~crc;
}

std::vector<std::byte> noise(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

}  // namespace

TEST_CASE("crc32c: the vectors of RFC 3720, appendix B.4") {
    CHECK(crc32c(bytes_of("123456789")) == 0xE3069283u);
    CHECK(crc32c(std::vector<std::byte>(32, std::byte{0x00})) == 0x8A9136AAu);
    CHECK(crc32c(std::vector<std::byte>(32, std::byte{0xFF})) == 0x62A8AB43u);
    CHECK(crc32c({}) == 0u);
}

TEST_CASE("crc32c: continues over parts") {
    const auto bytes = noise(5000, 1);
    const auto whole = std::span<const std::byte>(bytes);
    for (const std::size_t cut : {0u, 1u, 7u, 64u, 4096u, 5000u})
        CHECK(crc32c(whole.subspan(cut), crc32c(whole.first(cut))) == reference(bytes));
}

TEST_CASE("crc32c_copy: any size, any alignment, continued, and not a byte beyond") {
    for (const std::size_t size :
         {0u, 1u, 63u, 64u, 1023u, 1024u, 1087u, 1279u, 1280u, 4097u, 65'536u, 70'001u, (1u << 20) + 3}) {
        for (const std::size_t shift : {0u, 1u, 8u, 63u}) {
            CAPTURE(size);
            CAPTURE(shift);
            const auto from = noise(size + 64, static_cast<unsigned>(size + shift));
            std::vector<std::byte> to(size + 192, std::byte{0xA5});
            const auto source = std::span(from).subspan(64 - shift, size);
            const auto crc = crc32c_copy(to.data() + 64 + shift, source.data(), size, 0x12345678u);
            CHECK(crc == reference(source, 0x12345678u));
            CHECK(std::equal(source.begin(), source.end(), to.begin() + 64 + static_cast<std::ptrdiff_t>(shift)));
            CHECK(to[64 + shift + size] == std::byte{0xA5});
            CHECK(to[63 + shift] == std::byte{0xA5});
        }
    }
}

TEST_CASE("avx512_copy_raw agrees with the reference where the CPU has it") {
    if (!avx512_copy_works()) return;
    const auto from = noise(100'000, 9);
    std::vector<std::byte> to(100'000);
    for (const std::size_t size : {1024u, 1500u, 8192u, 99'999u})
        CHECK(~avx512_copy_raw(to.data() + 1, from.data(), size, ~0u) == reference(std::span(from).first(size)));
}
