// Goal: conventions are found by number and by name, and unknown numbers and names are not.
// Method: each line of the table there and back; values outside it.

#include <doctest/doctest.h>

#include <set>

#include "core/describe/conventions.hpp"

using namespace forebay;

TEST_CASE("each convention is found by its number and its name, and has files of its own") {
    std::set<std::string> suffixes;
    for (const auto& known : describe::known_conventions) {
        CHECK(describe::convention_numbered(static_cast<std::uint64_t>(known.convention)) == known.convention);
        CHECK(describe::convention_named(known.name) == known.convention);
        CHECK(describe::known(known.convention).suffix == std::string(known.suffix));
        suffixes.insert(known.suffix);
    }
    CHECK(suffixes.size() == describe::known_conventions.size());
    CHECK_FALSE(describe::convention_numbered(describe::known_conventions.size()));
    CHECK_FALSE(describe::convention_numbered(~std::uint64_t{0}));
    CHECK_FALSE(describe::convention_named("Plain"));
    CHECK(describe::convention_names() == "plain, h5part, openpmd or netcdf");
}
