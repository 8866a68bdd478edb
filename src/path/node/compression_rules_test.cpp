// Goal: each variable gets the right rule, harmful rules are refused, and rules survive writing and reading.

#include <doctest/doctest.h>

#include <limits>

#include "path/node/compression_rules.hpp"
#include "path/node/control.hpp"

using namespace forebay;
using node::CompressionRules;

TEST_CASE("the first pattern that fits counts, else the stream's rule") {
    const CompressionRules rules{{.codec = Codec::zstd},
                                 {{"gas/*", {.codec = Codec::lz4}},
                                  {"*/x", {.codec = Codec::none}},
                                  {"fields/*/mean", {.codec = Codec::zfp, .error = 0.5}}}};
    CHECK(rules.of("gas/x").codec == Codec::lz4);
    CHECK(rules.of("stars/x").codec == Codec::none);
    CHECK(rules.of("x").codec == Codec::zstd);
    CHECK(rules.of("fields/u/mean").error == 0.5);
    CHECK(rules.of("fields/u/means").codec == Codec::zstd);
    CHECK(rules.of("fields//mean").codec == Codec::zfp);
}

TEST_CASE("rules that are written down come back; none at all need no text") {
    const CompressionRules rules{
        {.codec = Codec::automatic, .shuffle = Shuffle::bits},
        {{"a \"b\"", {.codec = Codec::zstd, .level = 9}}, {"c", {.codec = Codec::zfp, .error = 1e-7}}}};
    const auto back = node::decode_rules(node::encode_rules(rules)).value();
    CHECK(node::encode_rules(back) == node::encode_rules(rules));
    CHECK(back.variables.at(1).second.error == 1e-7);
    CHECK(back.all.shuffle == Shuffle::bits);
    CHECK(node::encode_rules({}).empty());
    CHECK_FALSE(node::decode_rules("").value().any());
    CHECK_FALSE(CompressionRules{{}, {{"x", {}}}}.any());
    for (const auto* text : {"{", "{}", R"({"all":[9,0,0,0],"variables":[]})", R"({"all":[1,0,0,0]})",
                             R"({"all":[1,0,0,0],"variables":[["x"]]})", R"({"all":[1,0,10,0],"variables":[]})"})
        CHECK(node::decode_rules(text).error().kind == ErrorKind::corrupt);
}

TEST_CASE("what cannot work is refused, and the text names whose it is") {
    const auto refused = [](Compression rule, const char* word) {
        const auto checked = node::check(CompressionRules{{}, {{"fields/u", rule}}}, "restart");
        REQUIRE_FALSE(checked);
        CHECK(checked.error().kind == ErrorKind::refused);
        CHECK(checked.error().text().find("'fields/u' of stream 'restart'") != std::string::npos);
        CHECK(checked.error().text().find(word) != std::string::npos);
    };
    refused({.codec = Codec::zstd, .level = 10}, "level 10");
    refused({.codec = Codec::automatic, .level = 3}, "level");
    refused({.codec = Codec::zfp, .error = -1}, "error of -1");
    refused({.codec = Codec::zfp, .error = std::numeric_limits<double>::quiet_NaN()}, "error");
    refused({.codec = Codec::zstd, .error = 1}, "zfp");
    CompressionRules many{{.codec = Codec::zstd}, {}};
    for (int i = 0; i < 200; ++i) many.variables.emplace_back("variable-number-" + std::to_string(i), Compression{});
    CHECK(node::check(many, "restart").error().text().find("patterns") != std::string::npos);
    many.variables.resize(20);
    CHECK(node::check(many, "restart"));
    CHECK(node::encode_rules(many).size() < node::compression_text_max);
    CHECK_FALSE(node::check(CompressionRules{{}, {{"****x*", {}}}}, "restart"));
}
