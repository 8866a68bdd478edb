// Goal: every kernel gives the CRC32C of RFC 3720 and copies every byte and none beyond, at any size and place.
// Method: published vectors, then each kernel of this CPU against a sum bit by bit: all sizes up to 4,096 at all 64
//         places in a cache line, and sizes around a segment. The names of the tested kernels are printed.

#include "core/base/crc32c.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/crc32c/choice.hpp"
#include "core/base/limits.hpp"

using namespace forebay;

namespace {

constexpr std::uint32_t seed = 0x12345678;

std::uint32_t state_after(std::uint32_t state, std::byte byte) {
    state ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1u) != 0 ? 0x82F63B78u : 0u);
    return state;
}

std::vector<std::byte> noise(std::size_t size, unsigned which) {
    std::mt19937 random(which);
    std::vector<std::byte> bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

std::vector<const crc32c_kernels::Kernel*> working() {
    std::vector<const crc32c_kernels::Kernel*> kernels;
    for (const auto* kernel : crc32c_kernels::all())
        if (kernel->works()) kernels.push_back(kernel);
    return kernels;
}

// A copy with guard bytes on both sides.
struct Room {
    explicit Room(std::size_t most) : bytes(most + 192) {}

    // The first problem; empty if there is none.
    std::string copy(const crc32c_kernels::Kernel& kernel, const std::byte* from, std::size_t size, std::size_t place,
                     std::uint32_t wanted) {
        auto* to = bytes.data() + 64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64 + place;
        std::memset(to, 0x5A, size);
        to[-1] = to[size] = std::byte{0xA5};
        if (kernel.copy(to, from, size, seed) != wanted) return "sum of the copy";
        if (std::memcmp(to, from, size) != 0) return "bytes of the copy";
        return to[-1] == std::byte{0xA5} && to[size] == std::byte{0xA5} ? "" : "bytes beside the copy";
    }

    std::vector<std::byte> bytes;
};

}  // namespace

TEST_CASE("the vectors of RFC 3720, appendix B.4, by every kernel") {
    std::vector<std::byte> up(32), down(32);
    for (int i = 0; i < 32; ++i) up[i] = down[31 - i] = static_cast<std::byte>(i);
    for (const auto* kernel : working()) {
        CAPTURE(kernel->name);
        MESSAGE(std::string(kernel->name));
        const auto sum = [&](std::span<const std::byte> bytes) {
            return ~kernel->sum(bytes.data(), bytes.size(), ~0u);
        };
        CHECK(sum(bytes_of("123456789")) == 0xE3069283u);
        CHECK(sum(std::vector<std::byte>(32, std::byte{0x00})) == 0x8A9136AAu);
        CHECK(sum(std::vector<std::byte>(32, std::byte{0xFF})) == 0x62A8AB43u);
        CHECK(sum(up) == 0x46DD794Eu);
        CHECK(sum(down) == 0x113FDB5Cu);
        CHECK(sum({}) == 0u);
    }
}

TEST_CASE("every kernel at all sizes up to 4,096 and all places in a cache line") {
    constexpr std::size_t size_max = 4096;
    const auto bytes = noise(size_max + 128, 7);
    const auto* line = bytes.data() + 64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64;
    Room room(size_max);
    const auto kernels = working();
    for (std::size_t place = 0; place < 64; ++place) {
        const auto* from = line + place;
        std::uint32_t wanted = seed;
        for (std::size_t size = 0; size <= size_max; ++size) {
            if (size > 0) wanted = state_after(wanted, from[size - 1]);
            for (const auto* kernel : kernels) {
                std::string problem = kernel->sum(from, size, seed) == wanted ? "" : "sum";
                // Over all sizes, every pair of places occurs.
                if (problem.empty()) problem = room.copy(*kernel, from, size, (place + size) % 64, wanted);
                if (problem.empty()) continue;
                FAIL(std::string(kernel->name) << ", " << size << " bytes at " << place << ": " << problem);
            }
        }
    }
}

TEST_CASE("every kernel around a segment, and its sums continued") {
    constexpr auto segment = limits::segment_bytes;
    const auto bytes = noise(segment + 512, 8);
    Room room(segment + 256);
    std::uint32_t wanted = seed;
    for (std::size_t size = 0; size <= segment + 65; ++size) {
        if (size > 0) wanted = state_after(wanted, bytes[size - 1]);
        if (size + 65 < segment) continue;
        for (const auto* kernel : working()) {
            CAPTURE(kernel->name);
            CAPTURE(size);
            REQUIRE(kernel->sum(bytes.data(), size, seed) == wanted);
            REQUIRE(room.copy(*kernel, bytes.data(), size, size % 64, wanted) == "");
            const auto cut = size / 3;
            REQUIRE(kernel->sum(bytes.data() + cut, size - cut, kernel->sum(bytes.data(), cut, seed)) == wanted);
        }
    }
}

TEST_CASE("crc32c and crc32c_copy continue over parts") {
    const auto bytes = noise(5000, 1);
    const auto whole = std::span<const std::byte>(bytes);
    std::uint32_t state = ~0u;
    for (const auto byte : bytes) state = state_after(state, byte);
    std::vector<std::byte> to(bytes.size());
    for (const std::size_t cut : {0u, 1u, 7u, 64u, 4096u, 5000u}) {
        CHECK(crc32c(whole.subspan(cut), crc32c(whole.first(cut))) == ~state);
        const auto first = crc32c_copy(to.data(), bytes.data(), cut);
        CHECK(crc32c_copy(to.data() + cut, bytes.data() + cut, bytes.size() - cut, first) == ~state);
        CHECK(to == bytes);
    }
}

TEST_CASE("checksums of parts that were summed apart are joined") {
    const auto bytes = noise(5000, 2);
    const auto whole = std::span<const std::byte>(bytes);
    for (const std::size_t cut : {0u, 1u, 7u, 64u, 4096u, 5000u}) {
        const auto second = whole.subspan(cut);
        CHECK(crc32c_join(crc32c(whole.first(cut)), crc32c(second), second.size()) == crc32c(whole));
    }
}

TEST_CASE("a kernel is chosen by name, and a name that is none here is refused") {
    for (const auto* kernel : working()) CHECK(*crc32c_kernels::choose(kernel->name) == kernel);
    CHECK(*crc32c_kernels::choose("") == working().front());
    CHECK(working().back()->name == std::string("portable"));
    const auto refused = crc32c_kernels::choose("isal");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(refused.error().what.find("FOREBAY_CRC=isal is not a checksum kernel") == 0);
    CHECK(refused.error().what.find("portable") != std::string::npos);
}
