// A picture of at most 256 colours while it is drawn: one byte a pixel, the top row first. Drawing clips at the edges.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::insitu {

class Canvas {
public:
    /// Colour numbers: paper, three greys to smooth letters, then ink.
    static constexpr std::uint8_t paper = 0, ink = 4;

    Canvas(int width, int height);
    /// `darkness` has one byte a pixel: 0 for paper to 255 for ink.
    Canvas(int width, int height, std::vector<std::uint8_t> darkness);

    int width() const { return width_; }
    int height() const { return height_; }
    std::span<const std::uint8_t> pixels() const { return pixels_; }
    /// `y` must be a row of the canvas.
    std::span<std::uint8_t> row(int y);

    void fill(int x, int y, int width, int height, std::uint8_t colour);
    /// Draws four lines around the rectangle, `thickness` pixels outwards.
    void frame(int x, int y, int width, int height, int thickness);

private:
    int width_, height_;
    std::vector<std::uint8_t> pixels_;
};

}  // namespace forebay::insitu
