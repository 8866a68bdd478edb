// Goal: text is drawn by its glyphs, in any script and never by what commands terminals; nothing is drawn beyond edges.
// Method: pixels of small pictures; texts of random bytes.

#include "insight/insitu/canvas.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "insight/insitu/font.hpp"

using namespace forebay::insitu;

namespace {

std::string drawn_text(std::string_view words, int scale, bool vertical) {
    const int length = text_columns(words) * scale, height = glyph_rows * scale;
    Canvas canvas(vertical ? height : length, vertical ? length : height);
    if (vertical) canvas.vertical_text(0, length, words, scale);
    else canvas.text(0, 0, words, scale);
    std::string text;
    for (int y = 0; y < canvas.height(); ++y) {
        for (const auto pixel : canvas.row(y)) text += pixel == Canvas::paper ? '.' : pixel == Canvas::ink ? '#' : '+';
        text += '\n';
    }
    return text;
}

}  // namespace

TEST_CASE("text is drawn by its glyphs") {
    CHECK(drawn_text("L", 1, false) == "#....\n#....\n#....\n#....\n#....\n#....\n#####\n.....\n.....\n");
    CHECK(drawn_text("L", 1, true) == "......#..\n......#..\n......#..\n......#..\n#######..\n");
    CHECK(drawn_text("L", 2, false).substr(44, 11) == "##........\n");
    CHECK(text_columns("ab") == 11);
    CHECK(text_columns("") == 0);
    CHECK(text_columns("10²") == 15);
    CHECK(superscript(-12) == "⁻¹²");
    CHECK(drawn_text("a", 1, false) != drawn_text("b", 1, false));
    for (char letter = '!'; letter <= '~'; ++letter) {
        const auto glyph = drawn_text(std::string(1, letter), 1, false);
        CHECK(glyph.find('#') != std::string::npos);
        CHECK(glyph != drawn_text("\xE2\x96\xA1", 1, false));
    }
}

TEST_CASE("corners of large glyphs are rounded") {
    const auto drawn = drawn_text("y", 4, false);
    CHECK(drawn.substr(21 * 21) ==
          "#####..........#####\n"
          "#####..........#####\n"
          ".######......#######\n"
          ".###################\n"
          "...#################\n"
          "...#################\n"
          ".....###############\n"
          "...............#####\n"
          "................####\n"
          "................####\n"
          "...............####.\n"
          ".....##############.\n"
          "....#############...\n"
          "....#############...\n"
          ".....##########.....\n");
}

TEST_CASE("a character that is not there is a box, and what steers terminals is nothing") {
    const auto box = drawn_text("\xF0\x9F\x8C\x8A", 1, false);
    CHECK(box.starts_with("#####\n#...#\n"));
    CHECK(drawn_text("\xFF", 1, false) == box);
    CHECK(drawn_text("\xE6\xB0\xB4", 1, false) == box);
    CHECK(drawn_text("a\x1B\x07\n\xE2\x80\xAE", 1, false) == drawn_text("a", 1, false));
    CHECK(drawn_text("\xCE\xBC", 1, false) == drawn_text("\xC2\xB5", 1, false));
}

TEST_CASE("texts are cut where they do not fit") {
    CHECK(fitted("temperature", 100) == "temperature");
    CHECK(fitted("temperature", 40) == "tem...");
    CHECK(fitted("temperature", 17) == "");
    CHECK(fitted("", 0) == "");
    CHECK(fitted("Å\xE6\xB0\xB4\xE6\xB0\xB4\xE6\xB0\xB4", 23) == "Å\xE6\xB0\xB4\xE6\xB0\xB4\xE6\xB0\xB4");
    CHECK(fitted("\xE6\xB0\xB4\xE6\xB0\xB4\xE6\xB0\xB4\xE6\xB0\xB4\xE6\xB0\xB4", 24) == "\xE6\xB0\xB4...");
}

TEST_CASE("nothing is drawn beyond the edges") {
    std::mt19937_64 random(71);
    for (int round = 0; round < 300; ++round) {
        std::string words(random() % 40, ' ');
        for (auto& letter : words) letter = static_cast<char>(random());
        Canvas canvas(30, 20);
        const auto place = [&] { return static_cast<int>(random() % 80) - 40; };
        canvas.text(place(), place(), words, 1 << random() % 3);
        canvas.vertical_text(place(), place(), words, 1 << random() % 3);
        canvas.fill(place(), place(), place(), place(), 7);
        canvas.frame(place(), place(), 20, 20, 3);
        CHECK(std::ranges::all_of(canvas.pixels(), [](int pixel) { return pixel <= 4 || pixel == 7; }));
        CHECK(text_columns(fitted(words, 50)) <= 50);
    }
}
