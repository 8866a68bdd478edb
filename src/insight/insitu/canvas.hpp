// A picture of at most 256 colours while it is drawn: a byte a pixel, the first row on top. Drawing beyond the edges is
// cut off.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace forebay::insitu {

class Canvas {
public:
    /// Numbers of colours: paper, then three greys that smooth the edges of glyphs, then ink.
    static constexpr std::uint8_t paper = 0, ink = 4;

    Canvas(int width, int height);

    int width() const { return width_; }
    int height() const { return height_; }
    std::span<const std::uint8_t> pixels() const { return pixels_; }
    /// Of the row `y`, which must be there.
    std::span<std::uint8_t> row(int y);

    void fill(int x, int y, int width, int height, std::uint8_t colour);
    /// Four lines around what the rectangle holds, `thickness` pixels outwards.
    void frame(int x, int y, int width, int height, int thickness);
    /// `x`, `y`: the upper left corner of the first glyph. `scale`: pixels a dot: 1, 2 or 4.
    void text(int x, int y, std::string_view words, int scale);
    /// Upwards; `x`, `y`: the lower left corner of the column in which the text stands.
    void vertical_text(int x, int y, std::string_view words, int scale);

private:
    template <class Place>
    void draw_text(std::string_view words, int scale, Place&& place);
    int width_, height_;
    std::vector<std::uint8_t> pixels_;
};

}  // namespace forebay::insitu
