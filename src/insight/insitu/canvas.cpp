#include "insight/insitu/canvas.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include "insight/insitu/font.hpp"

namespace forebay::insitu {

namespace {

/// The dots of a glyph that is `times` times as wide and high. Beyond its edges there are none.
template <int times>
struct Dots {
    static constexpr int columns = glyph_columns * times, rows = glyph_rows * times;
    std::array<bool, static_cast<std::size_t>(rows* columns)> all{};
    bool dot(int x, int y) const {
        return x >= 0 && x < columns && y >= 0 && y < rows && all[static_cast<std::size_t>(y * columns + x)];
    }
};

/// Each dot twice as wide and high, by the rule of EPX: a quarter of a dot takes the value of two neighbours that agree
/// at that corner and nowhere else.
template <int times>
Dots<times> doubled(const auto& half) {
    Dots<times> twice;
    for (int y = 0; y < twice.rows; ++y) {
        for (int x = 0; x < twice.columns; ++x) {
            // The half of the dot in which (x, y) lies: its neighbours across and down there, and on the other sides.
            const int column = x >> 1, row = y >> 1;
            const int across = (x & 1) != 0 ? 1 : -1, down = (y & 1) != 0 ? 1 : -1;
            const bool side = half.dot(column + across, row), other_side = half.dot(column - across, row);
            const bool end = half.dot(column, row + down), other_end = half.dot(column, row - down);
            twice.all[static_cast<std::size_t>(y * twice.columns + x)] =
                side == end && side != other_end && end != other_side ? side : half.dot(column, row);
        }
    }
    return twice;
}

constexpr int rounded_times = 4;
/// With rounded corners.
Dots<rounded_times> rounded(const Glyph& glyph) { return doubled<4>(doubled<2>(glyph)); }

}  // namespace

Canvas::Canvas(int width, int height)
    : width_(width),
      height_(height),
      pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), paper) {}

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

template <class Place>
void Canvas::draw_text(std::string_view words, int scale, Place&& place) {
    // Thin lines of small text stay black: at one pixel a dot, dots are drawn as they are.
    std::map<const Glyph*, Dots<rounded_times>> known;
    const int part = rounded_times / scale;  // of a dot's side, in a pixel
    int begin = 0;
    for (const auto* const glyph : glyphs_of(words)) {
        const Dots<rounded_times>* smooth = nullptr;
        if (scale > 1) {
            if (!known.contains(glyph)) known[glyph] = rounded(*glyph);
            smooth = &known[glyph];
        }
        for (int y = 0; y < glyph_rows * scale; ++y) {
            for (int x = 0; x < glyph_columns * scale; ++x) {
                int dark = smooth == nullptr && glyph->dot(x, y) ? part * part : 0;
                for (int i = 0; smooth != nullptr && i < part * part; ++i)
                    dark += smooth->dot(x * part + i % part, y * part + i / part);
                const int level = dark * Canvas::ink / (part * part);
                if (level > 0) place(begin + x, y, static_cast<std::uint8_t>(level));
            }
        }
        begin += glyph->advance * scale;
    }
}

void Canvas::text(int x, int y, std::string_view words, int scale) {
    draw_text(words, scale, [&](int along, int down, std::uint8_t level) { fill(x + along, y + down, 1, 1, level); });
}

void Canvas::vertical_text(int x, int y, std::string_view words, int scale) {
    draw_text(words, scale,
              [&](int along, int down, std::uint8_t level) { fill(x + down, y - 1 - along, 1, 1, level); });
}

}  // namespace forebay::insitu
