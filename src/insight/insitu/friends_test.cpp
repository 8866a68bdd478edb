// Goal: the groups equal the result of comparing all pairs, for any order of particles.
// Method: small random sets (sparse, clumped, across faces, at one place, in domains of unequal lengths, with few or
// many cells) against a search over all pairs; pairs exactly at the linking length; crowded cells without a near pair.
// Cases print their seeds.

#include "insight/insitu/friends.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/splitmix.hpp"
#include "insight/insitu/periodic.hpp"

using namespace forebay;
using namespace forebay::insitu;

namespace {

using Place = std::array<double, 3>;
using Groups = std::vector<std::vector<std::uint32_t>>;  // members in rising order, groups ordered by first member

double random_share(std::uint64_t seed, std::uint64_t i) {
    return static_cast<double>(splitmix(seed, i) >> 11) * 0x1p-53;
}

ReadPlaces reader_of(const std::vector<Place>& places) {
    return [&places](std::uint64_t first, const std::array<std::span<double>, 3>& to) {
        for (std::size_t dim = 0; dim < 3; ++dim)
            for (std::size_t i = 0; i < to[dim].size(); ++i) to[dim][i] = places[first + i][dim];
    };
}

Groups groups_of(const std::vector<Place>& places, const FriendRule& rule) {
    const auto friends = Friends::find(rule, places.size(), reader_of(places)).value();
    Groups groups;
    for (std::size_t group = 0; group < friends.groups(); ++group) {
        std::vector<std::uint32_t> members;
        friends.for_each_member(group, [&](const CellParticle& placed) {
            CHECK(placed.at == places[placed.particle]);
            members.push_back(placed.particle);
        });
        CHECK(members.size() == friends.members(group));
        std::ranges::sort(members);
        groups.push_back(members);
    }
    std::ranges::sort(groups);
    return groups;
}

// Compares all pairs.
Groups groups_by_pairs(const std::vector<Place>& places, const FriendRule& rule) {
    std::vector<std::uint32_t> label(places.size());
    std::iota(label.begin(), label.end(), 0u);
    for (std::size_t i = 0; i < places.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            double square = 0;
            for (std::size_t dim = 0; dim < 3; ++dim) {
                const auto along = std::abs(places[i][dim] - places[j][dim]);
                square += std::pow(std::min(along, rule.lengths[dim] - along), 2);
            }
            if (square > rule.linking_length * rule.linking_length || label[i] == label[j]) continue;
            const auto from = label[i], to = label[j];
            std::ranges::replace(label, from, to);
        }
    std::vector<std::vector<std::uint32_t>> of_label(places.size());
    for (std::uint32_t i = 0; i < label.size(); ++i) of_label[label[i]].push_back(i);
    std::erase_if(of_label, [&](const auto& group) { return group.empty() || group.size() < rule.members_min; });
    std::ranges::sort(of_label);
    return of_label;
}

// Puts a share of the particles around a few centres.
std::vector<Place> particles_of(std::uint64_t seed, std::size_t count, const Place& lengths, double clumped,
                                double radius) {
    std::vector<Place> places(count);
    for (std::size_t i = 0; i < count; ++i) {
        const bool in_clump = random_share(seed, 10 * i) < clumped;
        const auto center = splitmix(seed, 10 * i + 1) % 5;
        for (std::size_t dim = 0; dim < 3; ++dim) {
            auto at = random_share(seed, 10 * i + 2 + dim) * lengths[dim];
            if (in_clump) {
                const auto offset = (random_share(seed, 10 * i + 5 + dim) - 0.5) * radius;
                // One centre is at a corner.
                at = (center == 0 ? 0 : random_share(seed + 1, 3 * center + dim) * lengths[dim]) + offset;
            }
            places[i][dim] = wrapped(at, lengths[dim]);
        }
    }
    return places;
}

}  // namespace

TEST_CASE("friends: the groups are those of a search over all pairs") {
    std::size_t grouped = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        const Place lengths = seed % 3 == 0 ? Place{1, 1, 1} : seed % 3 == 1 ? Place{10, 2.5, 7} : Place{0.3, 40, 40};
        const auto count = 50 + 15 * seed % 400;
        const auto shortest = *std::ranges::min_element(lengths);
        const auto places = particles_of(seed, count, lengths, static_cast<double>(seed % 4) / 3, shortest / 3);
        const auto mean = std::cbrt(lengths[0] * lengths[1] * lengths[2] / static_cast<double>(count));
        for (const auto share : {0.05, 0.2, 0.5, 1.0, 3.0}) {
            CAPTURE(share);
            const FriendRule rule{lengths, share * mean, 1 + seed % 3};
            const auto expected = groups_by_pairs(places, rule);
            CHECK(groups_of(places, rule) == expected);
            grouped += expected.size();
        }
    }
    CHECK(grouped > 1000);
}

TEST_CASE("friends: the order of particles changes neither groups nor their order") {
    const Place lengths{5, 6, 7};
    const auto places = particles_of(77, 4000, lengths, 0.6, 0.5);
    const FriendRule rule{lengths, 0.12, 5};
    auto mixed = places;
    for (std::size_t i = mixed.size() - 1; i > 0; --i) std::swap(mixed[i], mixed[splitmix(5, i) % (i + 1)]);
    const auto friends = Friends::find(rule, places.size(), reader_of(places)).value();
    const auto others = Friends::find(rule, mixed.size(), reader_of(mixed)).value();
    REQUIRE(friends.groups() == others.groups());
    REQUIRE(friends.groups() > 3);
    for (std::size_t group = 0; group < friends.groups(); ++group) {
        std::vector<Place> some, same;
        friends.for_each_member(group, [&](const CellParticle& placed) { some.push_back(placed.at); });
        others.for_each_member(group, [&](const CellParticle& placed) { same.push_back(placed.at); });
        std::ranges::sort(some);
        std::ranges::sort(same);
        CHECK(some == same);
    }
}

TEST_CASE("friends: a pair at the linking length is one, across faces too") {
    const Place lengths{8, 8, 8};
    const auto count = [&](const Place& a, const Place& b, double linking_length) {
        return groups_of({a, b}, {lengths, linking_length, 2}).size();
    };
    for (std::size_t dim = 0; dim < 3; ++dim) {
        Place a{1, 1, 1}, b{1, 1, 1}, low{1, 1, 1}, high{1, 1, 1};
        a[dim] = 2, b[dim] = 2.5;
        low[dim] = 0.25, high[dim] = 7.75;
        CHECK(count(a, b, 0.5) == 1);
        CHECK(count(a, b, std::nextafter(0.5, 0)) == 0);
        CHECK(count(low, high, 0.5) == 1);
        CHECK(count(high, low, 0.5) == 1);
        CHECK(count(low, high, std::nextafter(0.5, 0)) == 0);
    }
    CHECK(count({0, 0, 0}, {7.75, 7.75, 7.75}, 0.25 * std::sqrt(3) * 1.0000001) == 1);
    CHECK(count({0, 0, 0}, {7.75, 7.75, 7.75}, 0.25 * std::sqrt(3) * 0.9999999) == 0);
    CHECK(count({0, 0, 0}, {4, 4, 4}, 7) == 1);
    CHECK(count({0, 0, 0}, {4, 4, 4}, 100) == 1);
    CHECK(count({3, 3, 3}, {3, 3, 3}, 1e-4) == 1);
}

TEST_CASE("friends: none, one, all in one, all at one place") {
    const FriendRule rule{{1, 1, 1}, 0.1, 1};
    CHECK(groups_of({}, rule).empty());
    CHECK(groups_of({{0.5, 0, 0.999}}, rule).size() == 1);
    CHECK(groups_of(std::vector<Place>(5000, Place{0.3, 0.3, 0.3}), rule).size() == 1);
    CHECK(groups_of(particles_of(9, 3000, {1, 1, 1}, 0, 0), {{1, 1, 1}, 0.3, 3000}).size() == 1);
    CHECK(groups_of(particles_of(9, 300, {1, 1, 1}, 0, 0), {{1, 1, 1}, 1e-5, 2}).empty());
}

TEST_CASE("friends: crowded cells that do not touch are told apart without a look at all pairs") {
    // Two cells of 200,000 particles each; the nearest particles are a little more than the linking length apart.
    // Comparing 4 x 10^10 pairs would take minutes.
    std::vector<Place> places;
    for (std::uint64_t i = 0; i < 200'000; ++i)
        for (const auto from : {0.0, 0.1101})
            places.push_back({0.3 + from + random_share(21, 6 * i) * 1e-2, 0.3 + random_share(21, 6 * i + 1) * 1e-2,
                              0.3 + random_share(21, 6 * i + 2) * 1e-2});
    CHECK(groups_of(places, {{1, 1, 1}, 0.1, 2}).size() == 2);
    places.push_back({0.355, 0.3, 0.3});
    CHECK(groups_of(places, {{1, 1, 1}, 0.1, 2}).size() == 1);
}

TEST_CASE("friends: a linking length that would need too many cells is refused") {
    const auto refused = Friends::find({{1, 1, 1}, 1e-7, 2}, 0, reader_of({}));
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(refused.error().what.find("too small") != std::string::npos);
}

TEST_CASE("friends: crowded cells are friends as their particles are, not as boxes around them") {
    // Two clumps of 400 particles about the linking length apart: their boxes are near even if no pair is.
    std::size_t apart = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        std::vector<Place> places;
        for (std::uint64_t i = 0; i < 400; ++i)
            for (const auto from : {0.0, 0.07 + 0.04 * random_share(seed, 1)}) {
                Place place{};
                const auto along = random_share(seed, 9 * i + 2) * 0.03;  // a plate across the diagonal
                place[0] = wrapped(from + along + random_share(seed, 9 * i + 3) * 1e-3, 1);
                place[1] = wrapped(from - along + random_share(seed, 9 * i + 4) * 1e-3, 1);
                place[2] = 0.5 + random_share(seed, 9 * i + 5) * 1e-3;
                places.push_back(place);
            }
        const FriendRule rule{{1, 1, 1}, 0.13, 1};
        const auto groups = groups_of(places, rule);
        CHECK(groups == groups_by_pairs(places, rule));
        apart += groups.size() - 1;
    }
    CHECK(apart > 5);
    CHECK(apart < 55);
}
