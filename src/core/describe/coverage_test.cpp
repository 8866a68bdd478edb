// Goal: exact coverage is distinguished from holes, from overlaps, and from both with equal volume.

#include "core/describe/coverage.hpp"

#include <doctest/doctest.h>

using namespace forebay;

namespace {
bool covers(const Extents& shape, const std::vector<Box>& boxes) {
    Box whole;
    for (int dim = 0; dim < shape.dims(); ++dim) {
        whole.lo.push_back(0);
        whole.size.push_back(shape[dim]);
    }
    for (const std::uint64_t seed : {1ull, 77ull}) {
        std::uint64_t sum = 0;
        for (const auto& box : boxes) sum = add_weights(sum, cell_weight(box, seed));
        if (sum != cell_weight(whole, seed)) return false;
    }
    return true;
}
}  // namespace

TEST_CASE("cell_weight: only exact coverage adds up") {
    CHECK(covers({7}, {{{0}, {3}}, {{3}, {4}}}));
    CHECK(covers({4, 6, 5},
                 {{{0, 0, 0}, {4, 2, 5}}, {{0, 2, 0}, {1, 4, 5}}, {{1, 2, 0}, {3, 4, 1}}, {{1, 2, 1}, {3, 4, 4}}}));
    CHECK(covers({7}, {{{0}, {7}}, {{3}, {0}}}));
    CHECK(!covers({7}, {{{0}, {3}}}));
    CHECK(!covers({7}, {{{0}, {4}}, {{3}, {4}}}));
    CHECK(!covers({8}, {{{0}, {4}}, {{2}, {4}}}));
    CHECK(!covers({4, 4}, {{{0, 0}, {4, 2}}, {{0, 0}, {2, 4}}}));
    CHECK(covers({4096, 4096, 258}, {{{0, 0, 0}, {2048, 4096, 258}}, {{2048, 0, 0}, {2048, 4096, 258}}}));
}

TEST_CASE("find_overlap names a pair") {
    const std::vector<Box> apart{{{0, 0}, {2, 2}}, {{2, 0}, {2, 2}}, {{0, 2}, {4, 2}}};
    CHECK(find_overlap(apart) == std::pair<std::size_t, std::size_t>{0, 0});
    const std::vector<Box> clash{{{3, 3}, {2, 2}}, {{0, 0}, {2, 2}}, {{1, 1}, {3, 3}}};
    CHECK(find_overlap(clash) == std::pair<std::size_t, std::size_t>{1, 2});
}
