// Goal: whatever is cut, wherever, and whatever the disk keeps: what was called committed is found, verifies and holds
// the bytes of its save; nothing else is accepted; what was sealed in memory survives the programs; recover leaves what
// is documented and, called again, changes nothing. Method: enumerate.hpp. FOREBAY_CRASH_CUTS asks for more cuts,
// with other seeds and more losses; FOREBAY_SEED repeats.

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
