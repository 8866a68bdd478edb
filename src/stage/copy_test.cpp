// Goal: every way of copying a block gives the packed bytes and the CRC32C of each of its segments.

#include "stage/copy.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "base/crc32c.hpp"
#include "base/limits.hpp"
#include "describe/geometry.hpp"

using namespace forebay;

namespace {

constexpr auto segment = limits::segment_bytes;

std::vector<std::byte> noise(std::size_t size) {
    std::mt19937 random(static_cast<unsigned>(size));
    std::vector<std::byte> bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

void check_words(const std::vector<std::byte>& block, const std::vector<std::uint32_t>& words) {
    for (std::size_t at = 0, i = 0; at < block.size(); at += segment, ++i)
        CHECK(words[i] == crc32c(std::span(block).subspan(at, std::min<std::size_t>(segment, block.size() - at))));
}

}  // namespace

TEST_CASE("put_bytes and sum_block: one word a segment, the last one shorter") {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{5}, std::size_t{segment}, std::size_t{2 * segment + 7}}) {
        const auto from = noise(size);
        std::vector<std::byte> to(size);
        std::vector<std::uint32_t> words(size / segment + 2, 0xEEEEEEEEu);
        stage::put_bytes(to.data(), from.data(), size, words.data());
        CHECK(to == from);
        check_words(to, words);
        CHECK(words[(size + segment - 1) / segment] == 0xEEEEEEEEu);
        std::vector<std::uint32_t> again(words.size());
        stage::sum_block(to, again.data());
        check_words(to, again);
    }
}

TEST_CASE("put_piece: halo, short and long runs") {
    for (const std::uint64_t width : {3ull, 100ull, 128ull, 511ull, 3000ull}) {
        const Extents halo{1, 2, 1};
        const Box box{{5, 5, 5}, {4, 37, width}};
        std::vector<std::byte> memory = noise(8 * 6 * 41 * (width + 2));
        const auto piece = with_halo(box, halo, f64, memory.data());
        const auto bytes = volume(box.size) * 8;
        std::vector<std::byte> to(bytes), expected(bytes);
        for (std::uint64_t z = 0; z < 4; ++z)
            for (std::uint64_t y = 0; y < 37; ++y)
                std::memcpy(expected.data() + (z * 37 + y) * width * 8,
                            memory.data() + (((z + 1) * 41 + y + 2) * (width + 2) + 1) * 8, width * 8);
        std::vector<std::uint32_t> words(bytes / segment + 1);
        stage::put_piece(to.data(), piece, 8, words.data());
        CHECK(to == expected);
        check_words(to, words);
    }
}

TEST_CASE("put_columns: an array of structs, beside contiguous columns, any element size") {
    struct Particle {
        float x;
        std::int64_t id;
        std::uint16_t mask;
        char label[17];
    };
    const std::uint64_t rows = 300'001;
    std::vector<Particle> particles(rows);
    for (std::uint64_t i = 0; i < rows; ++i) {
        particles[i] = {static_cast<float>(i), static_cast<std::int64_t>(i * i), static_cast<std::uint16_t>(i), {}};
        std::snprintf(particles[i].label, sizeof particles[i].label, "p%llu", static_cast<unsigned long long>(i));
    }
    const auto apart = noise(rows * 4);
    const std::uint32_t sizes[] = {4, 8, 2, 17, 4};
    std::vector<std::vector<std::byte>> to(5);
    std::vector<std::vector<std::uint32_t>> words(5);
    for (std::size_t c = 0; c < 5; ++c) {
        to[c].resize(rows * sizes[c]);
        words[c].resize(to[c].size() / segment + 1);
    }
    const std::int64_t stride = sizeof(Particle);
    const stage::ColumnCopy columns[] = {
        {to[0].data(), {&particles[0].x, stride}, 4, words[0].data()},
        {to[1].data(), {&particles[0].id, stride}, 8, words[1].data()},
        {to[2].data(), {&particles[0].mask, stride}, 2, words[2].data()},
        {to[3].data(), {&particles[0].label, stride}, 17, words[3].data()},
        {to[4].data(), {const_cast<std::byte*>(apart.data())}, 4, words[4].data()},
    };
    stage::put_columns(columns, rows);
    for (std::size_t c = 0; c < 5; ++c) check_words(to[c], words[c]);
    CHECK(to[4] == apart);
    bool equal = true;
    for (std::uint64_t i = 0; i < rows; ++i) {
        equal = equal && std::memcmp(to[0].data() + i * 4, &particles[i].x, 4) == 0 &&
                std::memcmp(to[1].data() + i * 8, &particles[i].id, 8) == 0;
        equal = equal && std::memcmp(to[2].data() + i * 2, &particles[i].mask, 2) == 0 &&
                std::memcmp(to[3].data() + i * 17, particles[i].label, 17) == 0;
    }
    CHECK(equal);
}
