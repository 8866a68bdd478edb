#include "insight/insitu/canvas.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace forebay::insitu {

Canvas::Canvas(int width, int height)
    : width_(width),
      height_(height),
      pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), paper) {}

Canvas::Canvas(int width, int height, std::vector<std::uint8_t> darkness)
    : width_(width), height_(height), pixels_(std::move(darkness)) {
    // Rounds the darkness to the five colours from paper to ink.
    for (auto& pixel : pixels_) pixel = static_cast<std::uint8_t>((pixel * ink + 127) / 255);
}

std::span<std::uint8_t> Canvas::row(int y) {
    const auto width = static_cast<std::size_t>(width_);
    return std::span(pixels_).subspan(static_cast<std::size_t>(y) * width, width);
}

void Canvas::fill(int x, int y, int width, int height, std::uint8_t colour) {
    const int left = std::clamp(x, 0, width_), right = std::clamp(x + width, left, width_);
    for (int line = std::max(y, 0); line < std::min(y + height, height_); ++line)
        std::ranges::fill(row(line).subspan(static_cast<std::size_t>(left), static_cast<std::size_t>(right - left)),
                          colour);
}

void Canvas::frame(int x, int y, int width, int height, int thickness) {
    fill(x - thickness, y - thickness, width + 2 * thickness, thickness, ink);
    fill(x - thickness, y + height, width + 2 * thickness, thickness, ink);
    fill(x - thickness, y, thickness, height, ink);
    fill(x + width, y, thickness, height, ink);
}

}  // namespace forebay::insitu
