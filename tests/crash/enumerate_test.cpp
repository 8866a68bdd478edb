// Goal: after any cut, with any unsynced data lost, each committed snapshot is found, verifies and holds the bytes of
// its save. Nothing else is accepted. Sealed snapshots in memory survive the programs. Recover leaves only documented
// files, and a second recover changes nothing. Method: enumerate.hpp. FOREBAY_CRASH_CUTS sets more cuts with other
// seeds and losses; FOREBAY_SEED repeats.

#include "crash/enumerate.hpp"

#include <doctest/doctest.h>

#include <iostream>

#include "support/wished_number.hpp"

using namespace forebay::crash;

TEST_CASE("every operation of save, drain, commit, replacement, prune and recover is cut") {
    const auto wanted = forebay::test::wished_number("FOREBAY_CRASH_CUTS", 0);
    auto seed = forebay::test::wished_number("FOREBAY_SEED", 1);
    Tally tally;
    do {
        for (const auto& script : scripts(seed)) enumerate(script, {}, seed, wanted == 0 ? 1 : 6, tally);
        ++seed;
    } while (tally.cuts < wanted);
    for (const auto& text : tally.first) MESSAGE(text);
    std::cout << tally.cuts << " cuts, " << tally.violations << " violations\n";
    CHECK(tally.violations == 0);
    CHECK(tally.cuts > 1000);
}
