#include "insight/insitu/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "insight/insitu/canvas.hpp"
#include "insight/insitu/colour_scale.hpp"
#include "insight/insitu/palette.hpp"
#include "insight/insitu/picture_words.hpp"
#include "insight/insitu/png.hpp"

namespace forebay::insitu {

namespace {

// Colour numbers after the canvas's own: missing values, then the palette.
constexpr std::uint8_t missing_colour = 5, first_step = 6;
constexpr int palette_steps = 250;
constexpr int pixels_min = 16, pixels_max = 16'384;
constexpr int thinnest_share = 12;  // the shorter side gets at least 1/12 of `pixels`

/// The scale along one side: elements a pixel, or pixels an element; one of both is 1.
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
        // A long, narrow plane: the short side is stretched as far as possible without splitting elements.
        side.elements_per_pixel = std::max<std::uint64_t>(1, elements / static_cast<std::uint64_t>(least));
        side.pixels_per_element = (least - 1) / static_cast<int>(side.cells()) + 1;
    }
    return side;
}

/// The plane as the cells to draw: itself, or means over boxes of the elements present.
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
                // NaN differs from itself, so a missing element adds nothing.
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

PictureWords words_of(const Scene& scene, const Side& across, const Side& up, const ColourScale& colours) {
    return {.title = show_text(scene.title),
            .label = show_text(scene.label),
            .x_label = show_text(scene.x_label),
            .y_label = show_text(scene.y_label),
            .x_low = scene.x_low,
            .x_high = scene.x_high,
            .y_low = scene.y_low,
            .y_high = scene.y_high,
            .low = colours.low(),
            .high = colours.high(),
            .log = colours.is_log(),
            .plane_width = across.pixels(),
            .plane_height = up.pixels()};
}

void draw_plane(Canvas& canvas, const PictureInk& at, const Side& across, const Side& up, std::span<const float> cells,
                const ColourScale& colours) {
    const auto columns = static_cast<std::size_t>(across.cells());
    const auto wide = static_cast<std::size_t>(across.pixels_per_element);
    std::vector<std::uint8_t> steps(columns);
    for (std::size_t row = 0; row < up.cells(); ++row) {
        const int bottom = at.top + up.pixels() - static_cast<int>(row) * up.pixels_per_element;
        const auto first = canvas.row(bottom - 1).subspan(static_cast<std::size_t>(at.left), columns * wide);
        colours.steps_of(cells.subspan(row * columns, columns), palette_steps, steps);
        for (std::size_t column = 0; column < columns; ++column) {
            const auto step = steps[column];
            const auto colour =
                step == ColourScale::none ? missing_colour : static_cast<std::uint8_t>(first_step + step);
            for (std::size_t i = 0; i < wide; ++i) first[column * wide + i] = colour;
        }
        // All pixel rows of an element are equal, so they are copied.
        for (int copy = 2; copy <= up.pixels_per_element; ++copy)
            std::ranges::copy(first, canvas.row(bottom - copy).subspan(static_cast<std::size_t>(at.left)).begin());
    }
    canvas.frame(at.left, at.top, across.pixels(), up.pixels(), at.stroke);
}

void draw_bar(Canvas& canvas, const PictureInk& at) {
    for (int y = 0; y < at.bar_height; ++y) {
        const int step = (at.bar_height - 1 - y) * (palette_steps - 1) / (at.bar_height - 1);
        canvas.fill(at.bar_left, at.bar_top + y, at.bar_width, 1, static_cast<std::uint8_t>(first_step + step));
    }
    if (at.bar_height > 0) canvas.frame(at.bar_left, at.bar_top, at.bar_width, at.bar_height, at.stroke);
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
    // Divided, because width x height may overflow.
    if (elements / scene.width != scene.height || elements % scene.width != 0)
        return Error{ErrorKind::refused,
                     fmt::format("a plane of {} x {} elements has {} of them", scene.height, scene.width, elements)};
    const int pixels = std::clamp(scene.pixels, pixels_min, pixels_max);
    const auto longer = std::max(scene.width, scene.height);
    const auto across = side_of(scene.width, longer, pixels), up = side_of(scene.height, longer, pixels);
    std::optional<std::vector<float>> means;
    if (across.elements_per_pixel > 1 || up.elements_per_pixel > 1) means = cells_of(scene, across, up);
    const std::span<const float> cells = means ? *means : scene.values;
    // After averaging: a found range fits the drawn cells.
    FB_TRY_ASSIGN(colours, ColourScale::over(cells, scene.low, scene.high, scene.log, is_around_zero(scene.palette)));

    FB_TRY_ASSIGN(ink, ink_around(words_of(scene, across, up, colours)));
    Canvas canvas(ink.width, ink.height, std::move(ink.darkness));
    draw_plane(canvas, ink, across, up, cells, colours);
    draw_bar(canvas, ink);
    return encode_png(canvas, picture_colours(scene.palette));
}

}  // namespace forebay::insitu
