// Goal: the effort follows the available time: the fewest bytes with much time, the fastest effort with little, and no
// time lost on levels that gain nothing.
// Method: a simulated machine with a table of costs and gains for each effort.

#include <doctest/doctest.h>

#include <map>

#include "path/drain/effort.hpp"

using namespace forebay;

namespace {

struct Paper {
    double seconds;  // for a byte
    double ratio;
};

// A typical field: zstd gains up to level 5; higher levels only cost.
Paper paper_of(const drain::Effort& effort) {
    if (effort.plain) return {0, 1};
    if (effort.level.codec == Codec::lz4) return {2e-9, 0.7};
    const double number = effort.level.number;
    return {4e-9 * number * number, number <= 5 ? 0.6 - 0.04 * number : 0.4};
}

struct Outcome {
    double seconds = 0;
    double stored = 0;  // for a plain byte
    std::map<std::string, int> chunks;
};

// Stores `count` chunks of a MiB in `time`, like an agent: it divides the remaining time by the remaining bytes.
Outcome run(drain::Ladder& ladder, int count, std::optional<double> time, double write_seconds) {
    constexpr double bytes = 1 << 20;
    Outcome outcome;
    for (int i = 0; i < count; ++i) {
        const auto left = time ? std::optional((*time - outcome.seconds) / (bytes * (count - i))) : std::nullopt;
        const auto rung = ladder.choose(left, write_seconds);
        const auto [seconds, ratio] = paper_of(ladder[rung]);
        ladder.took(rung, 1 << 20, static_cast<std::uint64_t>(ratio * bytes), seconds * bytes);
        outcome.seconds += (seconds + ratio * write_seconds) * bytes;
        outcome.stored += ratio / count;
        ++outcome.chunks[ladder[rung].name()];
    }
    return outcome;
}

}  // namespace

TEST_CASE("with time to spare the fewest bytes, and in time; levels that gain nothing are tried once") {
    drain::Ladder ladder({.codec = Codec::automatic});
    auto outcome = run(ladder, 400, 400.0, 1e-8);
    CHECK(outcome.seconds < 400.0);
    CHECK(outcome.stored < 0.42);
    CHECK(outcome.chunks["zstd 5"] > 380);
    CHECK(outcome.chunks["zstd 8"] <= 1);
}

TEST_CASE("a tight deadline is kept by less effort, and what time there is is used") {
    const double write = 1e-8;  // 100 MB/s
    const double bytes = 400.0 * (1 << 20);
    for (const double budget : {8e-9, 1.2e-8, 2e-8, 4e-8}) {
        CAPTURE(budget);
        drain::Ladder ladder({.codec = Codec::automatic});
        run(ladder, 400, std::nullopt, write);  // the first drain has no time limit
        run(ladder, 400, bytes * budget, write);
        auto outcome = run(ladder, 400, bytes * budget, write);
        // lz4 needs 2e-9 + 0.7 e-8 = 9e-9 a byte. With less time it is late by exactly the difference.
        CHECK(outcome.seconds <= bytes * std::max(budget, 9.1e-9) * 1.02);
        if (budget >= 2e-8) CHECK(outcome.stored < 0.6);
    }
}

TEST_CASE("without a known time: the cheapest that compresses, on storage however slow") {
    drain::Ladder automatic({.codec = Codec::automatic}), zstd({.codec = Codec::zstd}), lz4({.codec = Codec::lz4});
    CHECK(automatic[automatic.choose(std::nullopt, 1)].name() == "lz4 5");
    CHECK(zstd[zstd.choose(std::nullopt, 1)].name() == "zstd 1");
    CHECK(lz4[lz4.choose(std::nullopt, 1)].name() == "lz4 1");
}

TEST_CASE("where compression costs more time than it saves, and there is none, bytes stay as they are") {
    drain::Ladder ladder({.codec = Codec::automatic});
    const double fast_storage = 1e-10;
    run(ladder, 50, 0.0, fast_storage);
    auto outcome = run(ladder, 100, 0.0, fast_storage);
    CHECK(outcome.chunks["as it is"] > 90);
}

TEST_CASE("a level that was asked for is the level") {
    drain::Ladder ladder({.codec = Codec::zstd, .level = 7});
    REQUIRE(ladder.size() == 1);
    CHECK(ladder[ladder.choose(0.0, 1)].name() == "zstd 7");
}
