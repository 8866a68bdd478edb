#include "insitu/canvas.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

#include "insitu/font.hpp"

namespace forebay::insitu {

namespace {

/// Dots of a glyph, each of them four times as wide and high and with rounded corners: twice by the rule of EPX, by
/// which a quarter of a dot takes the value of two neighbours that agree at that corner and nowhere else.
class RoundedGlyph {
public:
    static constexpr int times = 4;
    explicit RoundedGlyph(const Glyph& glyph) {
        for (int y = 0; y < glyph_rows * times; ++y)
            for (int x = 0; x < glyph_columns * times; ++x) at(x, y) = twice_doubled(glyph, x, y);
    }
    bool dot(int x, int y) const { return dots_[static_cast<std::size_t>(y * glyph_columns * times + x)]; }

private:
    bool& at(int x, int y) { return dots_[static_cast<std::size_t>(y * glyph_columns * times + x)]; }
    template <class Dot>
    static bool doubled(Dot&& dot, int x, int y) {
        // The half of the dot in which (x, y) lies: its neighbours across and down there, and on the other sides.
        const int column = x >> 1, row = y >> 1;
        const int across = (x & 1) != 0 ? 1 : -1, down = (y & 1) != 0 ? 1 : -1;
        const bool side = dot(column + across, row), other_side = dot(column - across, row);
        const bool end = dot(column, row + down), other_end = dot(column, row - down);
        return side == end && side != other_end && end != other_side ? side : dot(column, row);
    }
    static bool twice_doubled(const Glyph& glyph, int x, int y) {
        const auto once = [&](int column, int row) {
            return doubled([&](int c, int r) { return glyph.dot(c, r); }, column, row);
        };
        return doubled(once, x, y);
    }
    std::array<bool, static_cast<std::size_t>(glyph_rows* glyph_columns* times* times)> dots_{};
};

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
    std::map<const Glyph*, RoundedGlyph> rounded;
    const int part = RoundedGlyph::times / scale;  // of a dot's side, in a pixel
    int begin = 0;
    for (const auto* const glyph : glyphs_of(words)) {
        const auto* const smooth = scale == 1 ? nullptr : &rounded.try_emplace(glyph, *glyph).first->second;
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
