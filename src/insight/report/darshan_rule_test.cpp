// Goal: the rule names the slow target of a made log first and with its ratio, and nothing in a healthy one.
// Method: logs of 24 targets and 85 to 86 files each, whose rates spread as on a busy system; 50 seeds of each kind.

#include "insight/report/darshan_rule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace forebay;
using namespace forebay::report;

namespace {

struct Made {
    std::uint32_t targets = 24, files = 2048, stripes = 1;
    int slow = -1;
    double slow_ratio = 0.02;
    double noise = 0.15, late_share = 0.1;  // of the logarithm of rates; of writes that take twice as long
    int bursts = 1;                         // one after the other, 1000 s apart, of new files
    std::uint64_t file_bytes = 256u << 20;
};

// A target writes one file of its own after another; a file on several is as late as the slowest of its parts.
DarshanLog made_log(const Made& made, unsigned seed) {
    std::mt19937 random(seed);
    std::lognormal_distribution<double> noise(0, made.noise);
    std::bernoulli_distribution is_late(made.late_share);
    constexpr double target_rate = 1.5e9;
    DarshanLog log{.processes = made.files};
    std::vector<double> free(made.targets, 0);
    for (std::uint32_t i = 0; i < made.files; ++i) {
        const auto burst = i * made.bursts / made.files;
        const double begin = 1 + 1000.0 * burst;
        DarshanFile file{.mount = "/scratch", .written = made.file_bytes, .first = begin};
        for (std::uint32_t s = 0; s < made.stripes; ++s) {
            const auto target = (i + s * 7) % made.targets;
            const double rate =
                target_rate * noise(random) * (static_cast<int>(target) == made.slow ? made.slow_ratio : 1.0);
            const double took = static_cast<double>(made.file_bytes) / made.stripes / rate * (is_late(random) ? 2 : 1);
            free[target] = std::max(free[target], begin) + took;
            file.targets.push_back(target);
            file.last = std::max(file.last, free[target]);
            file.seconds = std::max(file.seconds, took);
        }
        log.files.push_back(file);
    }
    return log;
}

std::vector<std::uint32_t> slow_in(const DarshanLog& log) {
    std::vector<std::uint32_t> slow;
    for (const auto& mount : judge_darshan(log))
        for (const auto& target : mount.targets)
            if (target.is_slow) slow.push_back(target.number);
    return slow;
}

constexpr unsigned seeds = 50;

}  // namespace

TEST_CASE("a healthy log names nothing, over 50 seeds of each kind") {
    for (const auto& made : {Made{}, Made{.files = 48}, Made{.files = 200, .noise = 0.3, .late_share = 0.2},
                             Made{.stripes = 4}, Made{.stripes = 24}, Made{.bursts = 8}, Made{.files = 24}})
        for (unsigned seed = 0; seed < seeds; ++seed) {
            CAPTURE(seed);
            CAPTURE(made.files);
            CAPTURE(made.stripes);
            CHECK(slow_in(made_log(made, seed)).empty());
        }
}

TEST_CASE("the slow one is named alone, with its ratio and its correlation") {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        const auto mounts = judge_darshan(made_log({.slow = 14}, seed));
        REQUIRE(mounts.size() == 1);
        const auto& first = mounts[0].targets.at(0);
        CHECK(first.number == 14);
        CHECK(first.ratio < 0.05);
        CHECK(first.ratio > 0.005);
        CHECK(first.correlation < -0.3);
        CHECK(first.z > 10);
        CHECK(slow_in(made_log({.slow = 14}, seed)) == std::vector<std::uint32_t>{14});
        CHECK(mounts[0].kept.size() == 23);
        // Others take a twenty-third more, and the slow one's time is gone.
        CHECK(mounts[0].seconds / mounts[0].seconds_without > 20);
        CHECK(mounts[0].seconds / mounts[0].seconds_without < 60);
    }
}

TEST_CASE("half speed, several bursts and several stripes hide nothing") {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        CHECK(slow_in(made_log({.slow = 3, .slow_ratio = 0.5}, seed)) == std::vector<std::uint32_t>{3});
        CHECK(slow_in(made_log({.slow = 3, .slow_ratio = 0.1, .bursts = 8}, seed)) == std::vector<std::uint32_t>{3});
        CHECK(slow_in(made_log({.stripes = 4, .slow = 3, .slow_ratio = 0.1}, seed)) == std::vector<std::uint32_t>{3});
    }
}

TEST_CASE("a target that is done with the others is not slow, however long its files took") {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        auto log = made_log({}, seed);
        for (auto& file : log.files)
            if (file.targets[0] == 5) file.seconds *= 4;  // in calls about the files, or by slow processes
        CHECK(slow_in(log).empty());
    }
}

TEST_CASE("files on all targets tell none of them apart") {
    const auto mounts = judge_darshan(made_log({.stripes = 24, .slow = 3}, 1));
    REQUIRE(mounts.size() == 1);
    CHECK_FALSE(mounts[0].is_told_apart);
    CHECK(slow_in(made_log({.stripes = 24, .slow = 3}, 1)).empty());
}

TEST_CASE("small files and files of other mounts count for nothing") {
    auto log = made_log({.slow = 14}, 7);
    for (std::uint32_t i = 0; i < 40; ++i)
        log.files.push_back(
            {.mount = "/scratch", .targets = {5}, .written = 1000, .first = 1, .last = 900, .seconds = 5});
    for (std::uint32_t i = 0; i < 24; ++i)
        log.files.push_back(
            {.mount = "/home", .targets = {i}, .written = 1u << 30, .first = 1, .last = 2, .seconds = 1});
    const auto mounts = judge_darshan(log);
    REQUIRE(mounts.size() == 2);
    CHECK(mounts[0].mount == "/home");
    CHECK(mounts[1].small_files == 40);
    CHECK(slow_in(log) == std::vector<std::uint32_t>{14});
}

TEST_CASE("logs of little or nothing are judged without a fault") {
    CHECK(judge_darshan({}).empty());
    DarshanLog log;
    log.files.push_back({.mount = "", .targets = {0}, .written = 1, .first = 3, .last = 3});
    CHECK(slow_in(log).empty());
    log.files.push_back({.mount = "", .targets = {1, 1, 1}, .written = ~0ull, .first = 0, .last = 1e9, .seconds = 1e9});
    CHECK(slow_in(log).empty());
}

TEST_CASE("ranges as lfs takes them") {
    CHECK(ranges_of({}) == "");
    CHECK(ranges_of({3}) == "3");
    CHECK(ranges_of({0, 1, 2, 4, 7, 8}) == "0-2,4,7-8");
}
