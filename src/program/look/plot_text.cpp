#include "program/look/plot_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/terminal/say.hpp"
#include "insight/insitu/colour_scale.hpp"
#include "insight/insitu/palette.hpp"

namespace forebay::cli {

namespace {

constexpr int columns_min = 40, columns_max = 400;
constexpr int panel_rows = 16, panel_rows_of_several = 8;
constexpr int plane_rows_max = 40;
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";

/// Characters of a panel. One line is drawn by dots, 2 x 4 a character; several by a letter each.
class CharacterGrid {
public:
    CharacterGrid(int columns, int rows, bool has_dots)
        : columns_(columns), rows_(rows), has_dots_(has_dots), cells_(static_cast<std::size_t>(columns * rows)) {}

    int width() const { return columns_ * (has_dots_ ? 2 : 1); }
    int height() const { return rows_ * (has_dots_ ? 4 : 1); }
    void put(int x, int y, char letter) {
        constexpr std::uint8_t bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
        if (x < 0 || y < 0 || x >= width() || y >= height()) return;
        if (!has_dots_) cell(x, y) = static_cast<std::uint8_t>(letter);
        else cell(x / 2, y / 4) |= bits[y % 4][x % 2];
    }
    void link(int x0, int y0, int x1, int y1, char letter) {
        const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
        for (int i = 0; i <= steps; ++i)
            put(x0 + static_cast<int>(std::lround(static_cast<double>(x1 - x0) * i / steps)),
                y0 + static_cast<int>(std::lround(static_cast<double>(y1 - y0) * i / steps)), letter);
    }
    std::string row(int y) const {
        std::string text;
        for (int x = 0; x < columns_; ++x) {
            const auto value = cells_[index(x, y)];
            if (value == 0) text += ' ';
            else if (!has_dots_) text += static_cast<char>(value);
            else text += {'\xE2', static_cast<char>(0xA0 | value >> 6), static_cast<char>(0x80 | (value & 0x3F))};
        }
        return text;
    }

private:
    std::size_t index(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x);
    }
    std::uint8_t& cell(int x, int y) { return cells_[index(x, y)]; }
    int columns_, rows_;
    bool has_dots_;
    std::vector<std::uint8_t> cells_;  // patterns of Braille, or letters
};

void draw_line(CharacterGrid& grid, const insitu::ChartAxes& axes, const insitu::ChartAxis& y_axis,
               const insitu::ChartLine& line, char letter) {
    bool is_linked = false;
    int x_before = 0, y_before = 0;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
        const bool is_shown = axes.x.shows(line.x[i]) && y_axis.shows(line.y[i]);
        if (is_shown) {
            const int x = static_cast<int>(std::lround(axes.x.share_of(line.x[i]) * (grid.width() - 1)));
            const int y = static_cast<int>(std::lround((1 - y_axis.share_of(line.y[i])) * (grid.height() - 1)));
            grid.link(is_linked ? x_before : x, is_linked ? y_before : y, x, y, letter);
            x_before = x;
            y_before = y;
        }
        is_linked = is_shown;
    }
}

/// Characters that a text takes: of ours, which has no wide ones.
int width_of(const std::string& text) {
    return static_cast<int>(std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}
std::string to_right(const std::string& text, int width) {
    return std::string(static_cast<std::size_t>(std::max(0, width - width_of(text))), ' ') + text;
}
/// Powers and factors of ours in ASCII, "x10^-3"; of other characters a question mark each.
std::string in_ascii(std::string_view text) {
    constexpr std::array<std::string_view, 12> characters{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹", "⁻", "×"};
    constexpr std::string_view ascii = "0123456789-x";
    std::string plain;
    bool is_raised = false;
    while (!text.empty()) {
        const auto character = text.substr(0, std::max<std::size_t>(first_character(text).bytes, 1));
        const auto at = static_cast<std::size_t>(std::ranges::find(characters, character) - characters.begin());
        const bool raises = at < characters.size() - 1;
        if (raises && !is_raised) plain += '^';
        plain += at < characters.size() ? ascii[at] : character.size() == 1 ? character[0] : '?';
        is_raised = raises;
        text.remove_prefix(character.size());
    }
    return plain;
}

/// Lines of text, as they are or in ASCII.
class TextPage {
public:
    explicit TextPage(bool is_plain) : is_plain_(is_plain) {}
    void add(const std::string& line) {
        const auto end = line.find_last_not_of(' ') + 1;
        page_ += lines("{}\n", words(line.substr(0, end)));
    }
    /// What commands the terminal by our own will.
    void add_coloured(const std::string& line) { page_ += Shown{line + "\n"}; }
    std::string words(const std::string& text) const { return is_plain_ ? in_ascii(text) : text; }
    std::string vertical() const { return is_plain_ ? "|" : "│"; }
    std::string corner() const { return is_plain_ ? "+" : "└"; }
    std::string horizontal(int columns) const {
        std::string text;
        for (int i = 0; i < columns; ++i) text += is_plain_ ? "-" : "─";
        return text;
    }
    Shown take() && { return std::move(page_); }

private:
    bool is_plain_;
    Shown page_;
};

/// The labels of marks below an axis that begins after `left` characters, as many as have room.
std::string labels_below(const insitu::Ticks& ticks, const std::function<double(double)>& share_of, int left,
                         int columns, const TextPage& page) {
    std::string text;
    for (const auto& mark : ticks.marks) {
        const auto label = page.words(mark.label);
        const int middle = left + static_cast<int>(std::lround(share_of(mark.at) * (columns - 1)));
        const int begin = std::max(0, middle - width_of(label) / 2);
        if (begin < width_of(text) + (text.empty() ? 0 : 2) || begin + width_of(label) > left + columns + 2) continue;
        text += std::string(static_cast<std::size_t>(begin - width_of(text)), ' ') + label;
    }
    return text;
}

void centre(TextPage& page, const std::string& words, int left, int columns) {
    page.add(std::string(static_cast<std::size_t>(std::max(0, left + (columns - width_of(words)) / 2)), ' ') + words);
}

/// What stands beside each row of a panel, at the rows that marks are nearest to.
std::vector<std::string> row_labels(const insitu::Ticks& ticks, const std::function<double(double)>& share_of,
                                    int rows) {
    std::vector<std::string> labels(static_cast<std::size_t>(rows));
    for (const auto& mark : ticks.marks)
        labels[static_cast<std::size_t>(std::lround((1 - share_of(mark.at)) * (rows - 1)))] = mark.label;
    return labels;
}

int widest_of(const std::vector<std::vector<std::string>>& labels, const TextPage& page) {
    int width = 0;
    for (const auto& list : labels)
        for (const auto& label : list) width = std::max(width, width_of(page.words(label)));
    return width;
}

constexpr std::array<std::string_view, 5> shades{" ", "░", "▒", "▓", "█"};
constexpr std::string_view plain_shades = " .:-=+*#%@";

/// A plane as so many columns and rows, the first row at the bottom: means of what is there of boxes of elements.
std::vector<float> small_plane(const insitu::Scene& scene, int columns, int rows) {
    std::vector<float> small;
    const auto at = [](std::uint64_t elements, int i, int of) {
        return elements * static_cast<std::uint64_t>(i) / static_cast<std::uint64_t>(of);
    };
    for (int row = 0; row < rows; ++row) {
        const auto y_first = at(scene.height, row, rows),
                   y_end = std::max(y_first + 1, at(scene.height, row + 1, rows));
        for (int column = 0; column < columns; ++column) {
            const auto x_first = at(scene.width, column, columns);
            const auto x_end = std::max(x_first + 1, at(scene.width, column + 1, columns));
            double sum = 0;
            std::uint64_t count = 0;
            for (auto y = y_first; y < y_end; ++y) {
                for (auto x = x_first; x < x_end; ++x) {
                    const double value = scene.values[y * scene.width + x];
                    if (!std::isfinite(value)) continue;
                    sum += value;
                    ++count;
                }
            }
            small.push_back(count == 0 ? std::numeric_limits<float>::quiet_NaN()
                                       : static_cast<float>(sum / static_cast<double>(count)));
        }
    }
    return small;
}

/// Two rows of cells a line: the upper half of each character has its own colour.
std::string coloured_row(std::span<const std::uint8_t> upper, std::span<const std::uint8_t> lower,
                         const std::vector<insitu::Colour>& colours) {
    std::string text;
    for (std::size_t i = 0; i < upper.size(); ++i) {
        const auto colour = [&](std::uint8_t step) {
            return step == insitu::ColourScale::none ? insitu::Colour{168, 172, 176} : colours[step];
        };
        const auto a = colour(upper[i]), b = colour(lower[i]);
        text += fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m▀", a.red, a.green, a.blue, b.red, b.green, b.blue);
    }
    return text + "\x1b[0m";
}

}  // namespace

Result<Shown> text_of(const insitu::Chart& chart, const TextPicture& picture) {
    FB_TRY_ASSIGN(axes, insitu::axes_of(chart));
    TextPage page(picture.is_plain);
    const int rows = chart.panels.size() == 1 ? panel_rows : panel_rows_of_several;
    std::vector<insitu::Ticks> ticks;
    std::vector<std::vector<std::string>> labels;
    for (const auto& axis : axes.y) {
        ticks.push_back(axis.ticks(rows / 3));
        labels.push_back(row_labels(
            ticks.back(), [&](double value) { return axis.share_of(value); }, rows));
    }
    const int left = widest_of(labels, page) + 1;
    const int columns = std::clamp(picture.columns, columns_min, columns_max) - left - 3;
    const auto x_share = [&](double value) { return axes.x.share_of(value); };
    const auto x_ticks = axes.x.ticks(std::max(2, columns / 10));
    page.add(chart.title);
    for (std::size_t i = 0; i < chart.panels.size(); ++i) {
        const auto& panel = chart.panels[i];
        const bool is_one = panel.lines.size() == 1;
        page.add("");
        page.add(std::string(static_cast<std::size_t>(left), ' ') + insitu::with_factor(panel.label, ticks[i]));
        CharacterGrid grid(columns, rows, is_one && !picture.is_plain);
        for (std::size_t line = 0; line < panel.lines.size(); ++line)
            draw_line(grid, axes, axes.y[i], panel.lines[line], is_one ? '*' : letters[line % letters.size()]);
        for (int row = 0; row < rows; ++row)
            page.add(to_right(page.words(labels[i][static_cast<std::size_t>(row)]), left) + page.vertical() +
                     grid.row(row));
        page.add(std::string(static_cast<std::size_t>(left), ' ') + page.corner() + page.horizontal(columns));
        for (std::size_t line = 0; !is_one && line < panel.lines.size(); ++line)
            page.add(std::string(static_cast<std::size_t>(left) + 1, ' ') + letters[line % letters.size()] + "  " +
                     panel.lines[line].label);
    }
    page.add(labels_below(x_ticks, x_share, left + 1, columns, page));
    centre(page, insitu::with_factor(chart.x_label, x_ticks), left + 1, columns);
    return std::move(page).take();
}

Result<Shown> text_of(const insitu::Scene& scene, const TextPicture& picture) {
    TextPage page(picture.is_plain);
    // A character is twice as high as wide.
    int columns = std::clamp(picture.columns, columns_min, columns_max) - 14;
    int rows = static_cast<int>(
        std::lround(0.5 * columns * static_cast<double>(scene.height) / static_cast<double>(scene.width)));
    if (rows > plane_rows_max) {
        columns = std::max(8, columns * plane_rows_max / rows);
        rows = plane_rows_max;
    }
    rows = std::max(rows, 2);
    const auto share = [](double low, double high) {
        return [low, high](double value) { return (value - low) / (high - low); };
    };
    const auto y_ticks = insitu::linear_ticks(scene.y_low, scene.y_high, rows / 3);
    const auto x_ticks = insitu::linear_ticks(scene.x_low, scene.x_high, std::max(2, columns / 10));
    const std::vector<std::vector<std::string>> labels{row_labels(y_ticks, share(scene.y_low, scene.y_high), rows)};
    const int left = widest_of(labels, page) + 1;
    page.add(scene.title);
    page.add("");
    page.add(std::string(static_cast<std::size_t>(left), ' ') + insitu::with_factor(scene.y_label, y_ticks));
    const int cell_rows = picture.has_colours ? 2 * rows : rows;
    const auto cells = small_plane(scene, columns, cell_rows);
    FB_TRY_ASSIGN(colours, insitu::ColourScale::over(cells, scene.low, scene.high, scene.log,
                                                     insitu::is_around_zero(scene.palette)));
    const auto all_colours = insitu::colours_of(scene.palette, 250);
    const int levels = picture.has_colours ? static_cast<int>(all_colours.size())
                       : picture.is_plain  ? static_cast<int>(plain_shades.size())
                                           : static_cast<int>(shades.size());
    std::vector<std::uint8_t> steps(cells.size());
    colours.steps_of(cells, levels, steps);
    const auto row_of = [&](int row) {
        const auto cells_a_row = static_cast<std::size_t>(columns);
        return std::span(steps).subspan(static_cast<std::size_t>(cell_rows - 1 - row) * cells_a_row, cells_a_row);
    };
    for (int row = 0; row < rows; ++row) {
        auto line = to_right(page.words(labels[0][static_cast<std::size_t>(row)]), left) + page.vertical();
        if (picture.has_colours) {
            page.add_coloured(line + coloured_row(row_of(2 * row), row_of(2 * row + 1), all_colours));
            continue;
        }
        for (const auto step : row_of(row))
            line += step == insitu::ColourScale::none ? "?"
                    : picture.is_plain                ? std::string(1, plain_shades[step])
                                                      : std::string(shades[step]);
        page.add(line);
    }
    page.add(std::string(static_cast<std::size_t>(left), ' ') + page.corner() + page.horizontal(columns));
    page.add(labels_below(x_ticks, share(scene.x_low, scene.x_high), left + 1, columns, page));
    centre(page, insitu::with_factor(scene.x_label, x_ticks), left + 1, columns);
    page.add("");
    page.add(fmt::format("{}: {:.4g} to {:.4g}{}", scene.label, colours.low(), colours.high(),
                         scene.log ? ", by the logarithm" : ""));
    return std::move(page).take();
}

}  // namespace forebay::cli
