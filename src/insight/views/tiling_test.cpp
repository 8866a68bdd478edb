// Goal: for any decomposition and any range, the tiles hold each element once, with its storage place.
// Method: random boxes that fill a shape or leave holes; each element's place is found by brute force.

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "core/describe/geometry.hpp"
#include "insight/views/tiling.hpp"
#include "support/view_sample.hpp"

using namespace forebay;
using views::Stored;

namespace {

using Place = std::pair<std::uint32_t, std::uint64_t>;  // node, element in its dataset

Extents zeros(int dims) {
    Extents at;
    for (int dim = 0; dim < dims; ++dim) at.push_back(0);
    return at;
}

/// Calls visit(flat element of the shape, place) for each element of a box, in order.
template <class Visit>
void each(const Stored& stored, const Extents& shape, Visit&& visit) {
    auto element = stored.first_element;
    const auto origin = zeros(shape.dims());
    for_each_run(stored.box.size, 1, packed_strides(stored.box.size, 1), packed_strides(shape, 1),
                 [&](std::int64_t, std::int64_t b, std::uint64_t run) {
                     const auto first = b + offset_bytes(stored.box.lo, origin, packed_strides(shape, 1));
                     for (std::uint64_t i = 0; i < run; ++i)
                         visit(static_cast<std::uint64_t>(first) + i, Place{stored.node, element++});
                 });
}

std::vector<Stored> scattered(const Extents& shape, std::uint64_t parts, bool with_holes, std::mt19937& dice) {
    std::vector<Box> boxes;
    test::cut({zeros(shape.dims()), shape}, parts, boxes);
    std::shuffle(boxes.begin(), boxes.end(), dice);
    if (with_holes) boxes.resize(boxes.size() / 2);
    std::vector<Stored> stored;
    std::uint64_t first = 100;
    for (std::uint32_t i = 0; i < boxes.size(); ++i) {
        stored.push_back({boxes[i], 0, 0, i % 3, first});
        first += volume(boxes[i].size) + i % 2;
    }
    stored.push_back({{zeros(shape.dims()), zeros(shape.dims())}, 0, 0, 9, 0});  // an empty box
    return stored;
}

}  // namespace

TEST_CASE("tiles: each element of any range, once, and where it is stored") {
    std::mt19937 dice(7);
    for (const Extents& shape : {Extents{41}, Extents{5, 7}, Extents{4, 6, 5}, Extents{3, 4, 2, 5}, Extents{1, 9, 1}}) {
        for (const bool with_holes : {false, true}) {
            CAPTURE(shape.dims());
            CAPTURE(with_holes);
            const auto stored = scattered(shape, 9, with_holes, dice);
            std::map<std::uint64_t, Place> expected;
            for (const auto& box : stored)
                each(box, shape, [&](std::uint64_t element, Place place) { expected.emplace(element, place); });
            const views::Tiling tiling(shape, stored);
            const auto all = volume(shape);
            for (std::uint64_t first = 0; first < all; ++first)
                for (std::uint64_t end = first + 1; end <= all; end += 1 + dice() % 5) {
                    std::map<std::uint64_t, Place> places;
                    bool twice = false;
                    for (const auto& tile : tiling.tiles(first, end))
                        each(tile, shape, [&](std::uint64_t element, Place place) {
                            twice |= !places.emplace(element, place).second;
                        });
                    const std::map<std::uint64_t, Place> wanted(expected.lower_bound(first), expected.lower_bound(end));
                    REQUIRE_FALSE(twice);
                    REQUIRE(bool(places == wanted));
                }
        }
    }
}

TEST_CASE("slabs: a range is few boxes") {
    CHECK(views::slabs_of({4, 6, 5}, 0, 120).size() == 1);
    CHECK(views::slabs_of({4, 6, 5}, 1, 119).size() == 5);  // part of a row, rows, planes, rows, part of a row
    CHECK(views::slabs_of({4, 6, 5}, 30, 60) == std::vector<Box>{{{1, 0, 0}, {1, 6, 5}}});
    CHECK(views::slabs_of({}, 0, 1) == std::vector<Box>{Box{}});
    CHECK(views::slabs_of({7}, 3, 3).empty());
}

TEST_CASE("a value without dimensions is one tile") {
    const views::Tiling tiling({}, {{Box{}, 0, 2, 1, 5}});
    const auto tiles = tiling.tiles(0, 1);
    REQUIRE(tiles.size() == 1);
    CHECK(tiles[0].first_element == 5);
    CHECK(tiles[0].variable == 2);
}
