// Goal: slow targets are reported, first and with their ratio; healthy targets are not. Method: made rates with the
// noise that was measured on busy file systems, over many seeds.

#include "path/telemetry/slow.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>

using namespace forebay::telemetry;

namespace {

struct Noise {
    double spread = 0.15;        // of a lognormal distribution
    double thrown_share = 0.10;  // of samples that another program's load throws back
    double thrown_to = 0.45;
};
constexpr Noise busy{}, quiet{.spread = 0.05, .thrown_share = 0.02};

// Targets "0".."targets-1", each with one sample per snapshot. Targets in `slow` have their ratio.
std::vector<RateSample> made(unsigned seed, int targets, int snapshots, const std::map<int, double>& slow,
                             Noise noise) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<RateSample> samples;
    for (int snapshot = 0; snapshot < snapshots; ++snapshot)
        for (int target = 0; target < targets; ++target) {
            double rate = 250e6 * std::exp(noise.spread * normal(random));
            if (uniform(random) < noise.thrown_share) rate *= noise.thrown_to;
            if (const auto match = slow.find(target); match != slow.end()) rate *= match->second;
            samples.push_back({std::to_string(target), rate});
        }
    return samples;
}

}  // namespace

TEST_CASE("one target of 24 at 0.02 or at a half is named first, with its ratio, and nobody else") {
    for (const double ratio : {0.02, 0.5}) {
        CAPTURE(ratio);
        int named_others = 0;
        for (unsigned seed = 0; seed < 50; ++seed) {
            CAPTURE(seed);
            const auto slow = slow_ones(made(seed, 24, 10, {{14, ratio}}, busy));
            REQUIRE(!slow.empty());
            CHECK(slow.front().name == "14");
            CHECK(slow.front().ratio == doctest::Approx(ratio).epsilon(0.35));
            named_others += static_cast<int>(slow.size()) - 1;
        }
        CHECK(named_others <= 2);
    }
}

TEST_CASE("a target at 0.02 is named after one snapshot already") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const auto slow = slow_ones(made(seed, 24, 1, {{14, 0.02}}, quiet));
        REQUIRE(slow.size() == 1);
        CHECK(slow.front().name == "14");
    }
}

TEST_CASE("nobody is named in healthy runs, however many snapshots they have") {
    for (const int snapshots : {1, 2, 3, 6, 30}) {
        CAPTURE(snapshots);
        int named = 0;
        for (unsigned seed = 0; seed < 50; ++seed) {
            named += static_cast<int>(slow_ones(made(seed, 24, snapshots, {}, quiet)).size());
            named += static_cast<int>(slow_ones(made(seed, 24, snapshots, {}, busy)).size());
            named += static_cast<int>(slow_ones(made(seed, 8, snapshots, {}, busy)).size());
        }
        CHECK(named == 0);
    }
}

TEST_CASE("twelve of 156 at half speed are found on a busy system; the others pass") {
    std::map<int, double> half;
    for (int target = 0; target < 156; target += 13) half[target] = 0.5;
    std::size_t hits = 0, others = 0;
    for (unsigned seed = 0; seed < 50; ++seed)
        for (const auto& slow : slow_ones(made(seed, 156, 10, half, busy)))
            ++(half.contains(std::stoi(slow.name)) ? hits : others);
    CHECK(hits >= 50u * 12 * 99 / 100);
    CHECK(others <= 5);
}

TEST_CASE("where all rates differ by factors, only what is far from all others is named") {
    // Like targets that queue for each other: 48 samples each, medians from 0.4 to 2.
    std::vector<RateSample> samples;
    for (int target = 0; target < 24; ++target)
        for (int sample = 0; sample < 48; ++sample)
            samples.push_back({std::to_string(target), target == 14 ? 1.3 : 40.0 + 7.0 * target + sample % 3});
    const auto slow = slow_ones(samples);
    REQUIRE(slow.size() == 1);
    CHECK(slow.front().name == "14");
}

TEST_CASE("two nodes are compared by much less than a half alone; one is compared with nobody") {
    CHECK(slow_ones({{"a", 100}, {"a", 90}, {"a", 95}}).empty());
    CHECK(slow_ones({{"a", 100}, {"b", 60}, {"a", 100}, {"b", 60}, {"a", 100}, {"b", 60}}).empty());
    const auto slow = slow_ones({{"a", 100}, {"b", 10}, {"a", 100}, {"b", 10}, {"a", 100}, {"b", 10}});
    REQUIRE(slow.size() == 1);
    CHECK(slow.front().name == "b");
    CHECK(slow.front().samples == 3);
}

TEST_CASE("rates that are none count as nothing") {
    CHECK(slow_ones({}).empty());
    CHECK(slow_ones({{"a", 0}, {"b", -1}, {"c", NAN}, {"d", INFINITY}}).empty());
}
