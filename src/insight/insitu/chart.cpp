#include "insight/insitu/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/try.hpp"
#include "insight/insitu/canvas.hpp"
#include "insight/insitu/font.hpp"
#include "insight/insitu/palette.hpp"
#include "insight/insitu/png.hpp"

namespace forebay::insitu {

namespace {

constexpr int chart_pixels_min = 320, chart_pixels_max = 16'384;
// Numbers of colours behind those of the canvas: lines of the grid, then each line of the chart from faint to full.
constexpr std::uint8_t grid_colour = 5, first_line_colour = 6;
constexpr int line_levels = 4;

/// Okabe and Ito's colours, which the colour-blind can tell apart; the yellow one is too bright for paper.
constexpr std::array<Colour, 7> line_colours{
    {{0, 114, 178}, {213, 94, 0}, {0, 158, 115}, {204, 121, 167}, {230, 159, 0}, {86, 180, 233}, {60, 60, 60}}};

/// Of the chart's lines, from the first to the last one.
std::vector<Colour> colours_of_lines(std::size_t count, bool is_ordered) {
    if (count <= line_colours.size() && (!is_ordered || count == 1))
        return {line_colours.begin(), line_colours.begin() + count};
    // The bright end of a palette is lost on paper.
    auto steps = colours_of(Palette::ember, std::max<std::size_t>(2, count * 4 / 3 + 1));
    steps.resize(count);
    return steps;
}

std::vector<Colour> chart_colours(const std::vector<Colour>& lines) {
    std::vector<Colour> colours{{255, 255, 255}, {198, 198, 198}, {142, 142, 142},
                                {86, 86, 86},    {24, 24, 24},    {232, 232, 232}};
    const auto blended = [](std::uint8_t full, int level) {
        return static_cast<std::uint8_t>(255 - (255 - full) * level / line_levels);
    };
    for (const auto& [red, green, blue] : lines)
        for (int level = 1; level <= line_levels; ++level)
            colours.push_back({blended(red, level), blended(green, level), blended(blue, level)});
    return colours;
}

/// Draws strokes with smooth edges in the colour of one line.
class LinePen {
public:
    LinePen(Canvas& canvas, std::size_t line, double width)
        : canvas_(canvas),
          first_(static_cast<std::uint8_t>(first_line_colour + line * line_levels)),
          half_(width / 2) {}

    void stroke(double x0, double y0, double x1, double y1) { draw(x0, y0, x1, y1, half_); }
    void mark(double x, double y) { draw(x, y, x, y, 2.2 * half_); }

private:
    /// All within `reach` of the line from one point to the other.
    void draw(double x0, double y0, double x1, double y1, double reach) {
        const auto begin = [&](double a, double b) {
            return std::max(0, static_cast<int>(std::min(a, b) - reach - 1));
        };
        const auto end = [&](double a, double b, int size) {
            return std::min(size, static_cast<int>(std::max(a, b) + reach + 2));
        };
        const double along_x = x1 - x0, along_y = y1 - y0, square = along_x * along_x + along_y * along_y;
        for (int y = begin(y0, y1); y < end(y0, y1, canvas_.height()); ++y) {
            for (int x = begin(x0, x1); x < end(x0, x1, canvas_.width()); ++x) {
                const double from_x = x - x0, from_y = y - y0;
                const double share =
                    square > 0 ? std::clamp((from_x * along_x + from_y * along_y) / square, 0.0, 1.0) : 0;
                const double apart = std::hypot(from_x - share * along_x, from_y - share * along_y);
                const double cover = std::clamp(reach + 0.5 - apart, 0.0, 1.0);
                put(x, y, static_cast<int>(std::lround(cover * line_levels)));
            }
        }
    }
    void put(int x, int y, int level) {
        if (level == 0) return;
        auto& pixel = canvas_.row(y)[static_cast<std::size_t>(x)];
        const auto colour = static_cast<std::uint8_t>(first_ + level - 1);
        const bool is_own = pixel >= first_ && pixel < first_ + line_levels;
        // The smooth edge of a line leaves what another one has drawn.
        const bool wins = is_own ? colour > pixel : pixel < first_line_colour || 2 * level > line_levels;
        if (wins) pixel = colour;
    }

    Canvas& canvas_;
    std::uint8_t first_;
    double half_;
};

/// Where everything is, in pixels.
struct ChartLayout {
    int scale = 1;  // pixels a dot of text
    int width = 0, height = 0;
    int left = 0, plot_width = 0, plot_height = 0, legend_width = 0;
    Ticks x_ticks;
    std::vector<Ticks> y_ticks;
    std::vector<int> tops;  // of the panels' plots

    int gap() const { return 4 * scale; }
    int line() const { return text_rows * scale; }
    int tick() const { return 3 * scale; }
    int stroke() const { return (scale + 1) / 2; }
    int sample() const { return 16 * scale; }  // of a line, in the legend
};

ChartLayout chart_layout(const Chart& chart, const ChartAxes& axes) {
    ChartLayout at;
    at.width = std::clamp(chart.pixels, chart_pixels_min, chart_pixels_max);
    at.scale = at.width >= 3000 ? 4 : at.width >= 700 ? 2 : 1;
    std::size_t most_lines = 0;
    int words = 0;
    for (const auto& panel : chart.panels) {
        most_lines = std::max(most_lines, panel.lines.size());
        if (panel.lines.size() < 2) continue;
        for (const auto& line : panel.lines) words = std::max(words, text_columns(line.label) * at.scale);
    }
    if (most_lines > 1) at.legend_width = std::min(at.width / 3, at.sample() + 3 * at.gap() + words);
    const auto panels = static_cast<int>(chart.panels.size());
    at.plot_height = std::max(at.width * 5 /
                                  (panels == 1   ? 9
                                   : panels == 2 ? 15
                                                 : 22),
                              static_cast<int>(most_lines) * (at.line() + at.gap() / 2));
    int numbers = 0;
    for (const auto& y : axes.y) {
        at.y_ticks.push_back(y.ticks(std::clamp(at.plot_height / (3 * at.line()), 2, 10)));
        numbers = std::max(numbers, label_columns(at.y_ticks.back()) * at.scale);
    }
    at.left = 2 * at.gap() + numbers + at.tick() + at.gap() / 2;
    const int right = std::max(at.legend_width, 3 * at.gap());
    at.plot_width = at.width - at.left - right - at.gap();
    at.x_ticks = fitting_ticks([&](int most) { return axes.x.ticks(most); }, at.plot_width, at.scale);
    int top = at.gap() + (chart.title.empty() ? 0 : at.line() + at.gap());
    for (int panel = 0; panel < panels; ++panel) {
        at.tops.push_back(top + at.line() + at.gap());
        top = at.tops.back() + at.plot_height + 2 * at.gap();
    }
    at.height = top + 2 * at.line() + 2 * at.gap();
    return at;
}

class ChartDrawing {
public:
    ChartDrawing(const Chart& chart, const ChartAxes& axes)
        : chart_(chart), axes_(axes), at_(chart_layout(chart, axes)), canvas_(at_.width, at_.height) {}

    const Canvas& draw() {
        const auto fits = [&](const std::string& words, int width) { return fitted(words, width / at_.scale); };
        canvas_.text(at_.left, at_.gap(), fits(chart_.title, at_.width - at_.left - at_.gap()), at_.scale);
        for (std::size_t panel = 0; panel < chart_.panels.size(); ++panel) {
            const auto words = with_factor(chart_.panels[panel].label, at_.y_ticks[panel]);
            canvas_.text(at_.left, at_.tops[panel] - at_.line() - at_.gap() / 2, fits(words, at_.plot_width),
                         at_.scale);
            draw_grid(panel);
            draw_lines(panel);
            canvas_.frame(at_.left, at_.tops[panel], at_.plot_width, at_.plot_height, at_.stroke());
            if (chart_.panels[panel].lines.size() > 1) draw_legend(panel);
        }
        draw_x_words();
        return canvas_;
    }

private:
    double x_of(double value) const { return at_.left + axes_.x.share_of(value) * (at_.plot_width - 1); }
    double y_of(std::size_t panel, double value) const {
        return at_.tops[panel] + (1 - axes_.y[panel].share_of(value)) * (at_.plot_height - 1);
    }

    void draw_grid(std::size_t panel) {
        const int top = at_.tops[panel], bottom = top + at_.plot_height, stroke = at_.stroke();
        for (const auto& mark : at_.x_ticks.marks) {
            const int x = static_cast<int>(std::lround(x_of(mark.at)));
            canvas_.fill(x, top, stroke, at_.plot_height, grid_colour);
            canvas_.fill(x, bottom, stroke, at_.tick() + stroke, Canvas::ink);
        }
        for (const auto& [value, label] : at_.y_ticks[panel].marks) {
            const int y = static_cast<int>(std::lround(y_of(panel, value)));
            canvas_.fill(at_.left, y, at_.plot_width, stroke, grid_colour);
            canvas_.fill(at_.left - at_.tick() - stroke, y, at_.tick() + stroke, stroke, Canvas::ink);
            canvas_.text(at_.left - at_.tick() - at_.gap() / 2 - text_columns(label) * at_.scale, y - 7 * at_.scale / 2,
                         label, at_.scale);
        }
    }

    void draw_lines(std::size_t panel) {
        const auto& lines = chart_.panels[panel].lines;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            LinePen pen(canvas_, i, 1.3 * at_.scale);
            bool is_linked = false;
            double x_before = 0, y_before = 0;
            for (std::size_t point = 0; point < lines[i].x.size(); ++point) {
                const bool is_shown = axes_.x.shows(lines[i].x[point]) && axes_.y[panel].shows(lines[i].y[point]);
                if (is_shown) {
                    const double x = x_of(lines[i].x[point]), y = y_of(panel, lines[i].y[point]);
                    if (is_linked) pen.stroke(x_before, y_before, x, y);
                    if (lines[i].has_marks) pen.mark(x, y);
                    x_before = x;
                    y_before = y;
                }
                is_linked = is_shown;
            }
        }
    }

    void draw_legend(std::size_t panel) {
        const int left = at_.left + at_.plot_width + 2 * at_.gap();
        int top = at_.tops[panel];
        const auto& lines = chart_.panels[panel].lines;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const double middle = top + 3.5 * at_.scale;
            LinePen pen(canvas_, i, 1.6 * at_.scale);
            pen.stroke(left, middle, left + at_.sample(), middle);
            const int words = left + at_.sample() + at_.gap();
            canvas_.text(words, top, fitted(lines[i].label, (at_.width - at_.gap() - words) / at_.scale), at_.scale);
            top += at_.line() + at_.gap() / 2;
        }
    }

    void draw_x_words() {
        const int top = at_.tops.back() + at_.plot_height + at_.tick() + at_.gap();
        for (const auto& [value, label] : at_.x_ticks.marks) {
            const int length = text_columns(label) * at_.scale;
            const int x = static_cast<int>(std::lround(x_of(value))) - length / 2;
            canvas_.text(std::min(x, at_.width - at_.gap() - length), top, label, at_.scale);
        }
        const auto words = fitted(with_factor(chart_.x_label, at_.x_ticks), (at_.width - 2 * at_.gap()) / at_.scale);
        const int length = text_columns(words) * at_.scale;
        canvas_.text(std::max(at_.gap(), at_.left + (at_.plot_width - length) / 2), top + at_.line() + at_.gap() / 2,
                     words, at_.scale);
    }

    const Chart& chart_;
    const ChartAxes& axes_;
    ChartLayout at_;
    Canvas canvas_;
};

}  // namespace

Result<std::vector<std::byte>> draw_png(const Chart& chart) {
    FB_TRY_ASSIGN(axes, axes_of(chart));
    std::size_t lines = 0;
    for (const auto& panel : chart.panels) lines = std::max(lines, panel.lines.size());
    if (lines > chart_lines_max)
        return Error{ErrorKind::refused,
                     fmt::format("{} lines in a panel cannot be told apart, {} can", lines, chart_lines_max)};
    ChartDrawing drawing(chart, axes);
    return encode_png(drawing.draw(), chart_colours(colours_of_lines(lines, chart.is_ordered)));
}

}  // namespace forebay::insitu
