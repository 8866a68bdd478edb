// Goal: a line of checksums gives back any path, and no other text is accepted.
// Method: paths with each escaped character, and lines with a fault in each part.

#include "transfer/compare/checksums.hpp"

#include <doctest/doctest.h>

using namespace forebay;

TEST_CASE("checksums: a line gives back what was written") {
    for (const std::string path : {"a", "b/c d", " ", "\n", "x\\n\n\\", "\r\n/\t", "\xff\xfe", "# forebay"}) {
        CAPTURE(path);
        const tree::FileSum sum{.path = path, .bytes = UINT64_MAX, .crc32c = 0xffff'ffffu};
        const auto line = tree::line_of(sum);
        CHECK(line.find('\n') == std::string::npos);
        const auto back = tree::file_sum_from(line).value();
        CHECK(back.path == path);
        CHECK(back.bytes == UINT64_MAX);
        CHECK(back.crc32c == 0xffff'ffffu);
    }
    CHECK(tree::line_of({.path = "p\nq", .bytes = 12, .crc32c = 0xabc}) == "00000abc 12 p\\nq");
}

TEST_CASE("checksums: other lines are refused") {
    for (const std::string line :
         {"", "00000abc", "00000abc ", "00000abc 12", "00000abc 12 ", "0000abc 12 a", "00000abg 12 a", "00000abc x a",
          "00000abc -1 a", "00000abc 99999999999999999999 a", "00000abc 12 a\\", "00000abc 12 a\\x", "00000abc  12 a",
          "00000abc12 a", "+0000abc 12 a"}) {
        CAPTURE(line);
        const auto sum = tree::file_sum_from(line);
        REQUIRE_FALSE(sum);
        CHECK(sum.error().kind == ErrorKind::corrupt);
    }
}
