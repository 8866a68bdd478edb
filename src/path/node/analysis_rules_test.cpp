// Goal: analyses on the control page keep every member, and a damaged text is refused.
// Method: an analysis of each kind with no option at its default, written and read, compared by the list of options;
// every byte of such a text changed, and its end cut off; more text than the page has room for.

#include "path/node/analysis_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/describe/analysis_list.hpp"
#include "path/node/control.hpp"

using namespace forebay;
using node::decode_analyses, node::encode_analyses;
using K = Analysis::Kind;

namespace {

std::vector<Analysis> every_member() {
    return {
        {.name = "numbers \"1\"", .variables = {"gas/*", "fields/\xc3\xbc"}, .every = std::int64_t{1} << 40, .by = 7},
        {.name = "h", .kind = K::histogram, .variables = {"t"}, .bins = 7, .low = 0.1, .high = 1e300, .log = true},
        {.name = "h2", .kind = K::histogram_2d, .variables = {"x", "y"}, .bins = 4096, .low = -1e-300},
        {.name = "s", .kind = K::slice, .variables = {"t"}, .axis = 7, .at = std::int64_t{1} << 33, .picture = false},
        {.name = "p", .kind = K::projection, .variables = {"t"}, .high = 5, .pixels = 16, .palette = Palette::balance},
        {.name = "d",
         .kind = K::downsample,
         .variables = {"t"},
         .factor = 9,
         .condition = {"*/mean > 1e15", "t \"x\" != 0"},
         .action = {Analysis::Action::tell, Analysis::Action::mark}},
        {.name = "o", .kind = K::probe, .variables = {"t"}, .points = {{0, 1}, {std::int64_t{1} << 50, 3}}},
        {.name = "n", .kind = K::density, .variables = {"x", "y", "z", "m"}, .length = {0.1, 2, 3e9}},
        {.name = "k", .kind = K::spectrum, .variables = {"t"}, .length = {1}},
        {.name = "f",
         .kind = K::halos,
         .variables = {"x", "y", "z"},
         .length = {1},
         .linking_length = 0.168,
         .members = 2},
        {.name = "y",
         .kind = K::script,
         .script = "/home/me/\xc3\xbc look.py",
         .python = "python3.12",
         .time_limit = std::chrono::milliseconds(1500),
         .memory_limit_bytes = 0}};
}

}  // namespace

TEST_CASE("analyses that are written down come back with every member; none at all need no text") {
    const auto analyses = every_member();
    REQUIRE(describe::check_values("s", analyses));
    const auto back = decode_analyses(encode_analyses(analyses)).value();
    CHECK(describe::settings_of(back) == describe::settings_of(analyses));
    // Each option differs from its default in at least one analysis.
    const auto untouched = describe::settings_of(std::vector<Analysis>{{}});
    for (std::size_t i = 0; i < untouched.size(); ++i) {
        CAPTURE(untouched[i].name);
        CHECK(std::ranges::any_of(analyses, [&](const auto& analysis) {
            return describe::settings_of(std::vector<Analysis>{analysis})[i].value != untouched[i].value;
        }));
    }
    CHECK(encode_analyses({}).empty());
    CHECK(decode_analyses("").value().empty());
}

TEST_CASE("what is not written by Forebay is not obeyed") {
    const std::string good = R"([{"name":"a","variables":["x"]}])";
    REQUIRE(decode_analyses(good));
    for (const auto* text :
         {"[", "{}", "[]", "[{}]", R"([{"name":"a"}])", R"([{"name":"a","variables":["x"],"bins":64}])",
          R"([{"name":"a","variables":["x"],"every":1}])", R"([{"name":"a","variables":["x"],"every":0}])",
          R"([{"name":"a","variables":["x"],"other":1}])", R"([{"name":"a","variables":"x"}])",
          R"([{"name":"a","variables":[1]}])", R"([{"name":"../a","variables":["x"]}])",
          R"([{"name":"a","kind":11,"variables":["x"]}])", R"([{"name":"a","kind":4294967296,"variables":["x"]}])",
          R"([{"name":"a","kind":2,"variables":["x"]}])", R"([ {"name":"a","variables":["x"]}])",
          R"([{"name":"a","variables":["x"]},{"name":"a","variables":["x"]}])"}) {
        CAPTURE(text);
        const auto refused = decode_analyses(text);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::corrupt);
    }
}

TEST_CASE("a change of any byte gives another list that can be made, or is found") {
    const auto text = encode_analyses(every_member());
    std::size_t accepted = 0, refused = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!decode_analyses(text.substr(0, i))) ++refused;
        for (const char other : {'\0', '"', '0', '9', ']', '\x80'}) {
            auto changed = text;
            changed[i] = other;
            const auto analyses = decode_analyses(changed);
            if (!analyses) {
                CHECK(analyses.error().kind == ErrorKind::corrupt);
                continue;
            }
            ++accepted;
            CHECK(describe::check_values("s", *analyses));
            CHECK(encode_analyses(*analyses) == changed);
        }
    }
    CHECK(refused == text.size() - 1);  // each cut text except the empty text
    CHECK(accepted > 0);                // "bins":7 changed to "bins":9
}

TEST_CASE("analyses that the page has no room for are refused before they are written") {
    std::vector<Analysis> many;
    for (int i = 0; i < 100; ++i)
        many.push_back({.name = "a" + std::to_string(i), .variables = {std::string(200, 'v')}});
    const auto refused = node::check(many, "restart");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(refused.error().text().find("stream 'restart'") != std::string::npos);
    many.resize(60);
    CHECK(node::check(many, "restart"));
    CHECK(encode_analyses(many).size() < node::insitu_text_max);
}
