// Goal: patterns match whole names, `*` any text, and `?` any byte only on request.
// Method: a table; a pattern of many stars for which a search over all splits would not end.

#include "core/base/glob.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace forebay;

TEST_CASE("a pattern is for all of a text or not") {
    struct Case {
        const char* pattern;
        const char* text;
        bool star, question;  // as Wild says
    };
    for (const auto& example : {
             Case{"", "", true, true},
             {"", "a", false, false},
             {"*", "", true, true},
             {"*", "fields/u", true, true},
             {"fields/*", "fields/u", true, true},
             {"fields/*", "field/u", false, false},
             {"*/u", "fields/deep/u", true, true},
             {"*/u", "u", false, false},
             {"f*s/*", "fields/", true, true},
             {"f*s/*", "fields", false, false},
             {"a**b", "ab", true, true},
             {"a*a", "a", false, false},
             {"a*ab", "aaab", true, true},
             {"u", "uu", false, false},
             {"?", "u", false, true},
             {"?", "?", true, true},
             {"*.?sv", "out/a.csv", false, true},
             {"?*", "", false, false},
         }) {
        CAPTURE(example.pattern);
        CAPTURE(example.text);
        CHECK(matches(example.pattern, example.text) == example.star);
        CHECK(matches(example.pattern, example.text, Wild::star_and_question) == example.question);
    }
}

TEST_CASE("many stars cost no more than both lengths multiplied") {
    std::string pattern, text(4096, 'a');
    for (int i = 0; i < 64; ++i) pattern += "*a";
    CHECK_FALSE(matches(pattern + "b", text));
    CHECK(matches(pattern + "*", text));
}
