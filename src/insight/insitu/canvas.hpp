// A picture of at most 256 colours while it is drawn: a byte a pixel, the first row on top. Drawing beyond the edges is
// cut off.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::insitu {

class Canvas {
public:
    /// Numbers of colours: paper, then three greys that smooth the edges of letters, then ink.
    static constexpr std::uint8_t paper = 0, ink = 4;

    Canvas(int width, int height);
    /// As dark as `darkness` says, which has a byte for each pixel: 0 of paper to 255 of ink.
    Canvas(int width, int height, std::vector<std::uint8_t> darkness);

    int width() const { return width_; }
    int height() const { return height_; }
    std::span<const std::uint8_t> pixels() const { return pixels_; }
    /// Of the row `y`, which must be there.
    std::span<std::uint8_t> row(int y);

    void fill(int x, int y, int width, int height, std::uint8_t colour);
    /// Four lines around what the rectangle holds, `thickness` pixels outwards.
    void frame(int x, int y, int width, int height, int thickness);

private:
    int width_, height_;
    std::vector<std::uint8_t> pixels_;
};

}  // namespace forebay::insitu
