#include "core/describe/storage_targets.hpp"

#include <doctest/doctest.h>

using namespace forebay;
using describe::parse_storage_targets;

TEST_CASE("storage targets by number, range and name") {
    const auto parsed = [](std::string_view text) { return parse_storage_targets(text, "here").value(); };
    CHECK(parsed("").empty());
    CHECK(parsed("0-3,15") == std::vector<std::uint32_t>{0, 1, 2, 3, 15});
    CHECK(parsed("OST000e") == std::vector<std::uint32_t>{14});
    CHECK(parsed("# slow ones\nscratch-OST0010_UUID\n3, 2-4 # again\n") == std::vector<std::uint32_t>{16, 3, 2, 4});
    CHECK(describe::storage_target_name(14) == "OST000e");
}

TEST_CASE("what names no storage target is refused, with its place") {
    for (const auto* text : {"3-", "-3", "5-3", "OST14", "OST000g", "xOST000e", "70000", "0-99999999999", "a\x1b"}) {
        CAPTURE(text);
        const auto parsed = parse_storage_targets(text, "here");
        REQUIRE(!parsed);
        CHECK(parsed.error().kind == ErrorKind::refused);
        CHECK(parsed.error().what.starts_with("here contains "));
    }
    CHECK(parse_storage_targets("# none\n/ost/9\n", "here").error().next.find("--targets lists directories") !=
          std::string::npos);
}
