#include "insight/insitu/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/try.hpp"
#include "insight/insitu/canvas.hpp"
#include "insight/insitu/colour_scale.hpp"
#include "insight/insitu/font.hpp"
#include "insight/insitu/palette.hpp"
#include "insight/insitu/png.hpp"
#include "insight/insitu/ticks.hpp"

namespace forebay::insitu {

namespace {

// Numbers of colours behind those of the canvas: what has no value, then the palette.
constexpr std::uint8_t missing_colour = 5, first_step = 6;
constexpr int palette_steps = 250;
constexpr int pixels_min = 16, pixels_max = 16'384;
constexpr int thinnest_share = 12;  // the shorter side of a plane is drawn at least as 1/12 of `pixels`

/// How elements become pixels along one side: so many elements a pixel, or so many pixels an element; one of them is 1.
struct Side {
    std::uint64_t elements = 0, elements_per_pixel = 1;
    int pixels_per_element = 1;
    std::uint64_t cells() const { return (elements - 1) / elements_per_pixel + 1; }
    int pixels() const { return static_cast<int>(cells()) * pixels_per_element; }
};

Side side_of(std::uint64_t elements, std::uint64_t longer, int pixels) {
    Side side{elements};
    const auto most = static_cast<std::uint64_t>(pixels);
    if (longer > most) side.elements_per_pixel = (longer - 1) / most + 1;
    else side.pixels_per_element = static_cast<int>(most / longer);
    const auto least = std::max(1, pixels / thinnest_share);
    if (side.pixels() < least) {
        // Long and narrow: what is narrow is stretched, as far as it goes without dividing elements.
        side.elements_per_pixel = std::max<std::uint64_t>(1, elements / static_cast<std::uint64_t>(least));
        side.pixels_per_element = (least - 1) / static_cast<int>(side.cells()) + 1;
    }
    return side;
}

/// The plane as many cells as are drawn: itself, or the means of what is there of boxes of elements.
std::vector<float> cells_of(const Scene& scene, const Side& across, const Side& up) {
    const auto columns = static_cast<std::size_t>(across.cells()), rows = static_cast<std::size_t>(up.cells());
    std::vector<float> cells(columns * rows);
    std::vector<double> sums(columns);
    std::vector<std::uint32_t> counts(columns);
    for (std::size_t row = 0; row < rows; ++row) {
        std::ranges::fill(sums, 0.0);
        std::ranges::fill(counts, 0u);
        const auto end = std::min(scene.height, (row + 1) * up.elements_per_pixel);
        for (auto y = row * up.elements_per_pixel; y < end; ++y) {
            const float* const line = scene.values.data() + y * scene.width;
            std::size_t column = 0;
            for (std::uint64_t x = 0, left = across.elements_per_pixel; x < scene.width; ++x) {
                const bool counts_here = line[x] == line[x];
                sums[column] += counts_here ? static_cast<double>(line[x]) : 0.0;
                counts[column] += counts_here ? 1 : 0;
                if (--left > 0) continue;
                left = across.elements_per_pixel;
                ++column;
            }
        }
        for (std::size_t column = 0; column < columns; ++column)
            cells[row * columns + column] = counts[column] == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                                : static_cast<float>(sums[column] / counts[column]);
    }
    return cells;
}

/// Where everything is, in pixels; and the words as they fit.
struct PictureLayout {
    int scale = 1;  // pixels a dot of text
    int width = 0, height = 0;
    int left = 0, top = 0, plane_width = 0, plane_height = 0;
    int bar_left = 0, bar_top = 0, bar_width = 0, bar_height = 0;
    int y_numbers_width = 0, bar_numbers_width = 0;
    Ticks x_ticks, y_ticks, bar_ticks;
    std::string title, label, x_label, y_label;

    int tick() const { return 3 * scale; }
    int gap() const { return 4 * scale; }
    int line() const { return text_rows * scale; }
    int stroke() const { return (scale + 1) / 2; }
};

PictureLayout layout_of(const Scene& scene, const Side& across, const Side& up, const ColourScale& colours) {
    PictureLayout at;
    const int longer = std::max(across.pixels(), up.pixels());
    at.scale = longer >= 3000 ? 4 : longer >= 700 ? 2 : 1;
    at.plane_width = across.pixels();
    at.plane_height = up.pixels();
    at.bar_height = std::max(at.plane_height, 9 * at.line());
    at.bar_width = std::max(2 * at.line(), at.plane_width / 32);

    at.x_ticks = fitting_ticks([&](int most) { return linear_ticks(scene.x_low, scene.x_high, most); }, at.plane_width,
                               at.scale);
    at.y_ticks = linear_ticks(scene.y_low, scene.y_high, std::clamp(at.plane_height / (3 * at.line()), 1, 10));
    const int bar_most = std::clamp(at.bar_height / (3 * at.line()), 2, 10);
    if (!colours.is_empty())
        at.bar_ticks = colours.is_log() ? log_ticks(colours.low(), colours.high(), bar_most)
                                        : linear_ticks(colours.low(), colours.high(), bar_most);
    at.x_label = with_factor(scene.x_label, at.x_ticks);
    at.y_label = with_factor(scene.y_label, at.y_ticks);
    at.label = with_factor(scene.label, at.bar_ticks);
    at.y_numbers_width = label_columns(at.y_ticks) * at.scale;
    at.bar_numbers_width = label_columns(at.bar_ticks) * at.scale;

    const auto room_for = [&](const std::string& words) { return words.empty() ? 0 : at.line() + at.gap(); };
    const int numbers_end = at.tick() + at.gap() / 2;
    // At least half of a number stands out at the left end of the x axis.
    at.left = at.gap() + std::max(room_for(at.y_label) + at.y_numbers_width + numbers_end,
                                  label_columns(at.x_ticks) * at.scale / 2);
    at.bar_top = 2 * at.gap() + room_for(scene.title);
    at.top = at.bar_top + (at.bar_height - at.plane_height) / 2;
    at.bar_left = at.left + at.plane_width + std::max(at.line() * 2, label_columns(at.x_ticks) * at.scale / 2);
    at.width =
        at.bar_left + at.bar_width + numbers_end + at.bar_numbers_width + 2 * at.gap() + room_for(at.label) + at.gap();
    at.height = at.bar_top + at.bar_height + numbers_end + at.line() + room_for(at.x_label) + at.gap();

    // A title wider than the rest makes the picture wider, by a fifth at most unless it is small.
    const int title_end = at.left + text_columns(scene.title) * at.scale + 2 * at.gap();
    at.width = std::max(at.width, std::min(title_end, std::max(at.width * 6 / 5, 300 * at.scale)));
    at.title = fitted(scene.title, (at.width - at.left - at.gap()) / at.scale);
    at.x_label = fitted(at.x_label, (at.bar_left - at.gap()) / at.scale);
    at.y_label = fitted(at.y_label, (at.height - 2 * at.gap()) / at.scale);
    at.label = fitted(at.label, (at.height - 2 * at.gap()) / at.scale);
    return at;
}

/// Where a text of some length begins so that its middle is `middle` and it stays between the ends, as far as it fits.
int centred(int middle, int length, int first, int last) {
    return std::max(first, std::min(middle - length / 2, last - length));
}

void draw_plane(Canvas& canvas, const PictureLayout& at, const Side& across, const Side& up,
                std::span<const float> cells, const ColourScale& colours) {
    const auto columns = static_cast<std::size_t>(across.cells());
    const auto wide = static_cast<std::size_t>(across.pixels_per_element);
    std::vector<std::uint8_t> steps(columns);
    for (std::size_t row = 0; row < up.cells(); ++row) {
        const int bottom = at.top + at.plane_height - static_cast<int>(row) * up.pixels_per_element;
        const auto first = canvas.row(bottom - 1).subspan(static_cast<std::size_t>(at.left), columns * wide);
        colours.steps_of(cells.subspan(row * columns, columns), palette_steps, steps);
        for (std::size_t column = 0; column < columns; ++column) {
            const auto step = steps[column];
            const auto colour =
                step == ColourScale::none ? missing_colour : static_cast<std::uint8_t>(first_step + step);
            for (std::size_t i = 0; i < wide; ++i) first[column * wide + i] = colour;
        }
        for (int copy = 2; copy <= up.pixels_per_element; ++copy)
            std::ranges::copy(first, canvas.row(bottom - copy).subspan(static_cast<std::size_t>(at.left)).begin());
    }
    canvas.frame(at.left, at.top, at.plane_width, at.plane_height, at.stroke());
}

void draw_axes(Canvas& canvas, const PictureLayout& at, const Scene& scene) {
    const int bottom = at.top + at.plane_height, numbers_end = at.tick() + at.gap() / 2;
    int taken = 0;
    for (const auto& [value, label] : at.x_ticks.marks) {
        const double share = (value - scene.x_low) / (scene.x_high - scene.x_low);
        const int x = at.left + static_cast<int>(std::lround(share * (at.plane_width - 1)));
        canvas.fill(x - at.stroke() / 2, bottom, at.stroke(), at.tick() + at.stroke(), Canvas::ink);
        const int length = text_columns(label) * at.scale, begin = x - length / 2;
        if (begin < taken) continue;
        canvas.text(begin, bottom + numbers_end, label, at.scale);
        taken = begin + length + 4 * at.scale;
    }
    for (const auto& [value, label] : at.y_ticks.marks) {
        const double share = (value - scene.y_low) / (scene.y_high - scene.y_low);
        const int y = bottom - 1 - static_cast<int>(std::lround(share * (at.plane_height - 1)));
        canvas.fill(at.left - at.tick() - at.stroke(), y - at.stroke() / 2, at.tick() + at.stroke(), at.stroke(),
                    Canvas::ink);
        const int length = text_columns(label) * at.scale;
        canvas.text(at.left - numbers_end - length, y - 7 * at.scale / 2, label, at.scale);
    }
    const int x_length = text_columns(at.x_label) * at.scale, y_length = text_columns(at.y_label) * at.scale;
    canvas.text(centred(at.left + at.plane_width / 2, x_length, at.gap(), canvas.width() - at.gap()),
                bottom + numbers_end + at.line() + at.gap() / 2, at.x_label, at.scale);
    canvas.vertical_text(
        at.left - numbers_end - at.y_numbers_width - 3 * at.gap() / 2 - 9 * at.scale,
        centred(at.top + at.plane_height / 2, y_length, at.gap(), canvas.height() - at.gap()) + y_length, at.y_label,
        at.scale);
}

void draw_bar(Canvas& canvas, const PictureLayout& at, const ColourScale& colours) {
    for (int y = 0; y < at.bar_height; ++y) {
        const int step = (at.bar_height - 1 - y) * (palette_steps - 1) / (at.bar_height - 1);
        canvas.fill(at.bar_left, at.bar_top + y, at.bar_width, 1, static_cast<std::uint8_t>(first_step + step));
    }
    canvas.frame(at.bar_left, at.bar_top, at.bar_width, at.bar_height, at.stroke());
    const int right = at.bar_left + at.bar_width;
    for (const auto& [value, label] : at.bar_ticks.marks) {
        const int y = at.bar_top + at.bar_height - 1 -
                      static_cast<int>(std::lround(colours.share_of(value) * (at.bar_height - 1)));
        canvas.fill(right, y - at.stroke() / 2, at.tick() + at.stroke(), at.stroke(), Canvas::ink);
        canvas.text(right + at.tick() + at.gap() / 2 + at.scale, y - 7 * at.scale / 2, label, at.scale);
    }
    const int length = text_columns(at.label) * at.scale;
    canvas.vertical_text(right + at.tick() + at.gap() / 2 + at.bar_numbers_width + 2 * at.gap(),
                         centred(at.bar_top + at.bar_height / 2, length, at.gap(), canvas.height() - at.gap()) + length,
                         at.label, at.scale);
}

std::vector<Colour> picture_colours(Palette palette) {
    std::vector<Colour> colours{{255, 255, 255}, {198, 198, 198}, {142, 142, 142},
                                {86, 86, 86},    {24, 24, 24},    {168, 172, 176}};
    const auto steps = colours_of(palette, palette_steps);
    colours.insert(colours.end(), steps.begin(), steps.end());
    return colours;
}

}  // namespace

Result<std::vector<std::byte>> draw_png(const Scene& scene) {
    const auto elements = scene.values.size();
    if (scene.width == 0 || scene.height == 0 || elements == 0)
        return Error{ErrorKind::refused, "a plane without elements cannot be drawn"};
    if (elements / scene.width != scene.height || elements % scene.width != 0)
        return Error{ErrorKind::refused,
                     fmt::format("a plane of {} x {} elements has {} of them", scene.height, scene.width, elements)};
    const int pixels = std::clamp(scene.pixels, pixels_min, pixels_max);
    const auto longer = std::max(scene.width, scene.height);
    const auto across = side_of(scene.width, longer, pixels), up = side_of(scene.height, longer, pixels);
    std::optional<std::vector<float>> means;
    if (across.elements_per_pixel > 1 || up.elements_per_pixel > 1) means = cells_of(scene, across, up);
    const std::span<const float> cells = means ? *means : scene.values;
    FB_TRY_ASSIGN(colours, ColourScale::over(cells, scene.low, scene.high, scene.log, is_around_zero(scene.palette)));

    const auto at = layout_of(scene, across, up, colours);
    Canvas canvas(at.width, at.height);
    draw_plane(canvas, at, across, up, cells, colours);
    draw_axes(canvas, at, scene);
    draw_bar(canvas, at, colours);
    canvas.text(at.left, at.gap() + at.gap() / 2, at.title, at.scale);
    return encode_png(canvas, picture_colours(scene.palette));
}

}  // namespace forebay::insitu
