// Goal: shown text is always UTF-8 that commands no terminal, for any bytes, and harmless text stays unchanged.
// Method: every character of Unicode, each kind of broken UTF-8, and all strings of up to three chosen bytes.

#include "core/base/show_text.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace forebay;

namespace {

std::string utf8(std::uint32_t number) {
    const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
    if (number < 0x80) return {byte(number)};
    if (number < 0x800) return {byte(0xC0 | number >> 6), byte(0x80 | (number & 63))};
    if (number < 0x10000)
        return {byte(0xE0 | number >> 12), byte(0x80 | (number >> 6 & 63)), byte(0x80 | (number & 63))};
    return {byte(0xF0 | number >> 18), byte(0x80 | (number >> 12 & 63)), byte(0x80 | (number >> 6 & 63)),
            byte(0x80 | (number & 63))};
}

}  // namespace

TEST_CASE("every character is taken whole, and only those that command are spelled out") {
    int spelled = 0;
    for (std::uint32_t number = 0; number <= 0x10FFFF; ++number) {
        const auto text = utf8(number);
        if (number >= 0xD800 && number <= 0xDFFF) {
            REQUIRE(first_character(text).bytes == 0);
            continue;
        }
        const auto [bytes, character] = first_character(text + "x");
        REQUIRE(bytes == text.size());
        REQUIRE(character == number);
        const bool stays = show_text(text) == text;
        REQUIRE(stays == is_showable(text));
        if (!stays) ++spelled;
    }
    CHECK(spelled == 32 + 33 + 2 + 1 + 2 + 5 + 4);
    for (const char* text : {"", "restart", "µm", "日本", "a b\\x", "👩‍🔬", "قلب"})
        CHECK(show_text(text) == text);
}

TEST_CASE("what commands is shown byte by byte") {
    CHECK(show_text("ev\x1b]0;owned\x07") == "ev\\x1b]0;owned\\x07");
    CHECK(show_text("a\nb\tc\r\x7f") == "a\\x0ab\\x09c\\x0d\\x7f");
    CHECK(show_text("\xc2\x9b"
                    "31m") == "\\xc2\\x9b31m");
    CHECK(show_text("\xe2\x80\xaetxt.exe") == "\\xe2\\x80\\xaetxt.exe");
    CHECK(show_text(std::string("a\0b", 3)) == "a\\x00b");
}

TEST_CASE("what is no UTF-8 is spelled out, and what follows it is read on") {
    for (const std::string broken : {"\xff", "\x80", "\xc0\xaf", "\xc2", "\xe0\x80\xaf", "\xed\xa0\x80", "\xe2\x80",
                                     "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80"}) {
        std::string spelled;
        CHECK_FALSE(is_showable(broken));
        CHECK(show_text(broken + "µ").ends_with("µ"));
        CHECK(is_showable(show_text(broken)));
        CHECK(show_text(broken).size() == 4 * broken.size());
    }
}

TEST_CASE("no bytes make it show what commands") {
    const std::array bytes{'\0',   '\n',   '\x1b', ' ',    'a',    '\x7f', '\x80',
                           '\x9b', '\xc2', '\xd8', '\xe2', '\xed', '\xf0', '\xff'};
    for (const char a : bytes)
        for (const char b : bytes)
            for (const char c : bytes)
                for (const char d : bytes) {
                    const std::string text{a, b, c, d};
                    REQUIRE(is_showable(show_text(text)));
                    REQUIRE((show_text(text) == text) == is_showable(text));
                }
}

TEST_CASE("of a message only lines that go on with two spaces are lines") {
    CHECK(show_message("what.\n  Safe: all.\n  Next: this\x1b") == "what.\n  Safe: all.\n  Next: this\\x1b");
    CHECK(show_message("a\nrestart@9  whole\n") == "a\\x0arestart@9  whole\\x0a");
    CHECK(show_message("a\n b\n\n  c") == "a\\x0a b\\x0a\n  c");
}
