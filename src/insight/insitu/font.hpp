// A small font, drawn for this: ASCII, and what units and powers of ten need beside it. A glyph is 5 x 9 dots, of which
// the lower two are below the line; a glyph that is not there is a box.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::insitu {

inline constexpr int glyph_columns = 5;
inline constexpr int glyph_rows = 9;
inline constexpr int text_rows = 10;  // of a line: a glyph's and one between lines

struct Glyph {
    std::array<std::uint8_t, glyph_rows> rows{};  // the bit 1 << column, column 0 on the left
    int advance = glyph_columns + 1;              // to the next glyph
    bool dot(int column, int row) const {
        return column >= 0 && column < glyph_columns && row >= 0 && row < glyph_rows &&
               (rows[static_cast<std::size_t>(row)] >> column & 1) != 0;
    }
};

/// The characters of a text in UTF-8 that are drawn: what steers terminals or writing directions is left out, and a
/// byte that is no UTF-8 is a character that is not there.
std::vector<const Glyph*> glyphs_of(std::string_view text);

/// Dots from the first to the last one.
int text_columns(std::string_view text);

/// The text, or as much of its beginning as fits with "..." behind it.
std::string fitted(std::string_view text, int columns);

/// "⁻¹²"
std::string superscript(int number);

}  // namespace forebay::insitu
