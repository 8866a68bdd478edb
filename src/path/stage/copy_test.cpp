// Goal: every way to copy a block gives the packed bytes and the CRC32C of each segment, with any number of threads.
// Method: sizes around the borders of segments, and around the size that is worth a second thread; 1 to 5 threads.

#include "path/stage/copy.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/describe/geometry.hpp"

using namespace forebay;

namespace {

constexpr auto segment = limits::segment_bytes;

std::vector<std::byte> noise(std::size_t size) {
    std::mt19937 random(static_cast<unsigned>(size));
    std::vector<std::byte> bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

// Adds to a list with a slot's reserve, and runs it with each number of threads.
void by_all_crews(std::size_t blocks, const std::function<void(stage::CopyList&)>& add,
                  const std::function<void(std::uint32_t)>& check) {
    for (std::uint32_t threads = 1; threads <= 5; ++threads) {
        CAPTURE(threads);
        sys::Crew crew(threads, sys::own_cpus());
        stage::CopyList list;
        list.reserve(blocks);
        for (int save = 0; save < 2; ++save) {
            list.clear();
            add(list);
            check(list.run(crew));
        }
    }
}

void check_words(const std::vector<std::byte>& block, const std::vector<std::uint32_t>& words) {
    for (std::size_t at = 0, i = 0; at < block.size(); at += segment, ++i)
        CHECK(words[i] == crc32c(std::span(block).subspan(at, std::min<std::size_t>(segment, block.size() - at))));
}

}  // namespace

TEST_CASE("bytes and sums: one word a segment, the last one shorter") {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{5}, std::size_t{segment - 1}, std::size_t{segment}, std::size_t{segment + 1},
          std::size_t{2 * segment + 7}, std::size_t{4 * segment}, std::size_t{11 * segment + 1}}) {
        CAPTURE(size);
        const auto from = noise(size);
        std::vector<std::byte> to(size);
        std::vector<std::uint32_t> words(size / segment + 2), again(words.size());
        const auto segments = (size + segment - 1) / segment;
        by_all_crews(
            2,
            [&](stage::CopyList& list) {
                std::ranges::fill(to, std::byte{0});
                std::ranges::fill(words, 0xEEEEEEEEu);
                std::ranges::fill(again, 0xEEEEEEEEu);
                list.add_bytes(to.data(), from.data(), size, words.data());
                list.add_sum(from, again.data());
            },
            [&](std::uint32_t) {
                CHECK(to == from);
                check_words(from, words);
                CHECK(words[segments] == 0xEEEEEEEEu);
                CHECK(words == again);
            });
    }
}

TEST_CASE("pieces: halo, short and long runs, and runs over the borders of segments") {
    struct Case {
        Box box;
        std::uint32_t element_bytes;
    };
    std::vector<Case> cases;
    for (const std::uint64_t width : {3ull, 100ull, 128ull, 511ull, 3000ull})
        cases.push_back({{{5, 5, 5}, {4, 37, width}}, 8});
    cases.push_back({{{5, 5, 5}, {40, 37, 3000}}, 8});   // 33 segments
    cases.push_back({{{5, 5, 5}, {9, 301, 1000}}, 3});   // elements over the borders
    cases.push_back({{{5, 5, 5}, {1, 2, 700'000}}, 8});  // runs longer than segments
    for (const auto& example : cases) {
        const auto& box = example.box;
        const auto element_bytes = example.element_bytes;
        CAPTURE(box.size[2]);
        const Type type = string_of(element_bytes);
        const Extents halo{1, 2, 1};
        const auto depth = box.size[0], height = box.size[1], width = box.size[2];
        auto memory = noise(element_bytes * (depth + 2) * (height + 4) * (width + 2));
        const auto piece = with_halo(box, halo, type, memory.data());
        const auto bytes = volume(box.size) * element_bytes;
        std::vector<std::byte> to(bytes), expected(bytes);
        for (std::uint64_t z = 0; z < depth; ++z)
            for (std::uint64_t y = 0; y < height; ++y)
                std::memcpy(expected.data() + (z * height + y) * width * element_bytes,
                            memory.data() + (((z + 1) * (height + 4) + y + 2) * (width + 2) + 1) * element_bytes,
                            width * element_bytes);
        std::vector<std::uint32_t> words(bytes / segment + 1);
        by_all_crews(
            1,
            [&](stage::CopyList& list) {
                std::ranges::fill(to, std::byte{0});
                std::ranges::fill(words, 0u);
                list.add_piece(to.data(), piece, element_bytes, words.data());
            },
            [&](std::uint32_t) {
                CHECK(to == expected);
                check_words(expected, words);
            });
    }
}

TEST_CASE("columns: an array of structs, beside contiguous columns, any element size") {
    struct Particle {
        float x;
        std::int64_t id;
        std::uint16_t mask;
        char label[17];
    };
    // Three parts of rows: rows of 17 bytes have whole segments every 1,048,576 rows.
    const std::uint64_t rows = 2'400'001;
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
    by_all_crews(
        5,
        [&](stage::CopyList& list) {
            for (std::size_t c = 0; c < 5; ++c) {
                std::ranges::fill(to[c], std::byte{0});
                std::ranges::fill(words[c], 0u);
            }
            list.add_columns(columns, rows);
        },
        [&](std::uint32_t) {
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
        });
}

TEST_CASE("columns of structs are cut at rows where all of them have whole segments, at any number of rows") {
    const std::uint64_t whole = segment / 4;  // for elements of 4 and 8 bytes: 262,144
    for (const auto rows :
         {std::uint64_t{0}, std::uint64_t{1}, whole - 1, whole, whole + 1, 3 * whole, 3 * whole + 5}) {
        CAPTURE(rows);
        const auto structs = noise(rows * 12);
        std::vector<std::byte> four(rows * 4), eight(rows * 8);
        std::vector<std::uint32_t> of_four(four.size() / segment + 2), of_eight(eight.size() / segment + 2);
        auto* data = const_cast<std::byte*>(structs.data());
        const stage::ColumnCopy columns[] = {{four.data(), {data, 12}, 4, of_four.data()},
                                             {eight.data(), {data + 4, 12}, 8, of_eight.data()}};
        by_all_crews(
            2,
            [&](stage::CopyList& list) {
                std::ranges::fill(four, std::byte{0});
                std::ranges::fill(of_four, 0xEEEEEEEEu);
                std::ranges::fill(of_eight, 0xEEEEEEEEu);
                list.add_columns(columns, rows);
            },
            [&](std::uint32_t) {
                bool equal = true;
                for (std::uint64_t i = 0; i < rows; ++i)
                    equal = equal && std::memcmp(four.data() + 4 * i, structs.data() + 12 * i, 4) == 0 &&
                            std::memcmp(eight.data() + 8 * i, structs.data() + 12 * i + 4, 8) == 0;
                CHECK(equal);
                check_words(four, of_four);
                check_words(eight, of_eight);
                CHECK(of_four[(four.size() + segment - 1) / segment] == 0xEEEEEEEEu);
                CHECK(of_eight[(eight.size() + segment - 1) / segment] == 0xEEEEEEEEu);
            });
    }
}

TEST_CASE("little is copied by the caller alone, much by as many threads as it is worth") {
    const auto from = noise(9 * segment);
    std::vector<std::byte> to(from.size());
    std::vector<std::uint32_t> words(9);
    sys::Crew crew(4, sys::own_cpus());
    stage::CopyList list;
    const auto threads_of = [&](std::size_t bytes) {
        list.clear();
        list.add_bytes(to.data(), from.data(), bytes, words.data());
        return list.run(crew);
    };
    CHECK(threads_of(0) == 1);
    CHECK(threads_of(8) == 1);
    CHECK(threads_of(4 * segment - 1) == 1);
    CHECK(threads_of(4 * segment) == 2);
    CHECK(threads_of(6 * segment) == 3);
    CHECK(threads_of(9 * segment) == 4);
}

TEST_CASE("many blocks are shared out as one: hundreds smaller than a segment, of every kind") {
    const std::size_t blocks = 600;
    const auto from = noise(blocks * 20'000);
    std::vector<std::byte> to(from.size());
    std::vector<std::uint32_t> words(blocks);
    std::vector<Piece> pieces(blocks);
    by_all_crews(
        blocks,
        [&](stage::CopyList& list) {
            std::ranges::fill(to, std::byte{0});
            for (std::size_t i = 0; i < blocks; ++i) {
                const auto at = i * 20'000;
                auto* data = const_cast<std::byte*>(from.data()) + at;
                pieces[i] = packed({{0}, {2'500}}, f64, data);
                if (i % 2 == 0) list.add_bytes(to.data() + at, data, 20'000, &words[i]);
                else list.add_piece(to.data() + at, pieces[i], 8, &words[i]);
            }
        },
        [&](std::uint32_t) {
            CHECK(to == from);
            bool right = true;
            for (std::size_t i = 0; i < blocks; ++i)
                right = right && words[i] == crc32c(std::span(from).subspan(i * 20'000, 20'000));
            CHECK(right);
        });
}
