// Goal: only the exact name of an identity is accepted, and gives the id back.
// Method: correct names, and names with small differences.

#include "core/format/run_identity.hpp"

#include <doctest/doctest.h>

using namespace forebay;

TEST_CASE("run_identity: a name that was made is known, and others are not") {
    for (const auto id : {std::uint64_t{1}, std::uint64_t{0x00f3'0000'c0ff'ee9a}, UINT64_MAX})
        CHECK(format::identity_in(format::name_of_identity(id)) == id);
    CHECK(format::name_of_identity(0x00f3'0000'c0ff'ee9a) == "run-00f30000c0ffee9a.json");
    for (const char* name : {"", "run-.json", "run-0000000000000000.json", "run-00f30000C0FFEE9A.json", "run-f3.json",
                             "run-00f30000c0ffee9a.jso", "run-00f30000c0ffee9a.json2", "ran-00f30000c0ffee9a.json",
                             "run-00f30000c0ffee9g.json", "run-+0f30000c0ffee9a.json", "run-0x030000c0ffee9a.json"})
        CHECK(!format::identity_in(name));
}
