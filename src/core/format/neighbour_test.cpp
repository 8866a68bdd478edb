// Goal: an address file gives the helping agent, its session and its addresses. Invalid files are refused.
// Method: the example of the page, and changed texts.

#include "core/format/neighbour.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace forebay;
using namespace forebay::format;

namespace {

const NeighbourAddress example{"nid00412", "0", 5, {"10.0.0.7:40213", "[2001:db8::7]:40213"}};

ErrorKind kind_of(const std::string& text) {
    const auto read = decode_neighbour(text, "x");
    REQUIRE_FALSE(read);
    return read.error().kind;
}

}  // namespace

TEST_CASE("what is written is read back") {
    const auto read = decode_neighbour(encode(example).value(), "x").value();
    CHECK(read.host == example.host);
    CHECK(read.virtual_node == "0");
    CHECK(read.session == 5);
    CHECK(read.addresses == example.addresses);
}

TEST_CASE("what is no address is refused") {
    CHECK(kind_of("") == ErrorKind::corrupt);
    CHECK(kind_of("{}") == ErrorKind::corrupt);
    auto text = encode(example).value();
    CHECK(kind_of(text.substr(0, text.size() / 2)) == ErrorKind::corrupt);
    text.replace(text.find("\"version\":1"), 11, "\"version\":2");
    CHECK(kind_of(text) == ErrorKind::unsupported);
    auto none = example;
    none.addresses.clear();
    CHECK_FALSE(encode(none));
    none.addresses = {"a:1,b:2"};
    CHECK_FALSE(encode(none));
    none = example;
    none.session = 0;
    CHECK_FALSE(encode(none));
}

TEST_CASE("the worked example of the page is such a file") {
    const auto* const source = std::getenv("FOREBAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    std::ifstream file(std::string(source) + "/docs/formats/examples/run/forebay/sessions/000005/neighbour-0.json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK(text == encode(example).value());
}
