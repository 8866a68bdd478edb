#include "insight/insitu/operators/plane.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/operators/lines.hpp"
#include "insight/insitu/scene.hpp"

namespace forebay::insitu {

namespace {

/// The two dimensions of a picture: the last two longer than 1. Dimensions of length 1 fill in.
struct Sides {
    int x = -1, y = -1;  // -1: none, length 1
};

Sides sides_of(const Extents& shape, int axis) {
    Sides sides;
    for (const bool long_ones : {true, false}) {
        for (int dim = shape.dims() - 1; dim >= 0; --dim) {
            if (dim == axis || (shape[dim] > 1) != long_ones) continue;
            if (sides.x < 0) sides.x = dim;
            else if (sides.y < 0) sides.y = dim;
        }
    }
    // x is the faster of both dimensions.
    if (sides.x < sides.y) std::swap(sides.x, sides.y);
    return sides;
}

/// The ends of an axis and its label.
struct SideScale {
    double low = -0.5, high = 0.5;
    std::string label;
};

SideScale scale_of(const Analysis& analysis, const Variable& variable, int dim) {
    if (dim < 0) return {.label = ""};
    SideScale scale{-0.5, static_cast<double>(variable.shape[dim]) - 0.5, dimension_name(variable, dim)};
    const auto& lengths = analysis.length;
    // Without lengths the axis counts elements, with their centres at whole numbers.
    if (lengths.empty()) return scale;
    const auto which = static_cast<std::size_t>(dim);
    scale.low = 0;
    scale.high = lengths.size() == 1 ? lengths[0] : which < lengths.size() ? lengths[which] : scale.high + 0.5;
    return scale;
}

}  // namespace

Result<> check_array(std::span<const Variable> variables, int dims_min, const std::string& verb) {
    if (variables.size() != 1)
        return Error{ErrorKind::refused,
                     fmt::format("{} variables are {} at once, but only one is allowed", variables.size(), verb)};
    const auto& variable = variables.front();
    if (variable.kind != Kind::array)
        return Error{ErrorKind::refused,
                     fmt::format("variable '{}' is not an array, and so cannot be {}", variable.name, verb)};
    if (variable.shape.dims() < dims_min)
        return Error{ErrorKind::refused, fmt::format("variable '{}' of shape {} has less than {} dimensions, and so "
                                                     "cannot be {}",
                                                     variable.name, show_shape(variable.shape), dims_min, verb)};
    return {};
}

Result<> check_axis(const Variable& variable, int axis) {
    if (axis >= 0 && axis < variable.shape.dims()) return {};
    return Error{ErrorKind::refused, fmt::format("variable '{}' of shape {} has no dimension {}", variable.name,
                                                 show_shape(variable.shape), axis)};
}

Result<> check_drawable(const Variable& variable, const Extents& plane) {
    int long_ones = 0;
    for (int dim = 0; dim < plane.dims(); ++dim) long_ones += plane[dim] > 1;
    if (long_ones <= 2) return {};
    return Error{ErrorKind::refused,
                 fmt::format("variable '{}' of shape {} leaves {}, which cannot be drawn as a picture", variable.name,
                             show_shape(variable.shape), show_shape(plane)),
                 "", "set picture = false"};
}

void note_missing(Attributes& attributes, std::uint64_t missing) {
    if (missing > 0) attributes.others.emplace_back("missing", static_cast<std::int64_t>(missing));
}

std::string dimension_name(const Variable& variable, int dim) {
    const auto& names = variable.attributes.dimensions;
    const auto which = static_cast<std::size_t>(dim);
    return which < names.size() && !names[which].empty() ? names[which] : fmt::format("axis {}", dim);
}

void note_sides(Attributes& attributes, const Analysis& analysis, const Variable& variable, int axis) {
    std::vector<int> sides;  // last dimension first
    for (int dim = variable.shape.dims() - 1; dim >= 0; --dim)
        if (dim != axis) sides.push_back(dim);
    if (sides.size() > 2) return;
    constexpr const char* names[] = {"across", "up"};
    constexpr const char* cells[] = {"cell_width", "cell_height"};
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const auto scale = scale_of(analysis, variable, sides[i]);
        attributes.others.emplace_back(names[i], scale.label);
        if (sides.size() == 1 || analysis.length.empty()) continue;
        attributes.others.emplace_back(cells[i],
                                       (scale.high - scale.low) / static_cast<double>(variable.shape[sides[i]]));
    }
}

void note_palette(Attributes& attributes, const Analysis& analysis) {
    if (analysis.palette == Palette::ember) return;
    for (const auto& word : describe::palette_words)
        if (word.value == analysis.palette) attributes.others.emplace_back("palette", word.name);
}

Result<Picture> draw_plane_of(const Analysis& analysis, const Variable& variable, int axis, std::vector<float> values,
                              const PlaneWords& words, const Moment& moment) {
    const auto sides = sides_of(variable.shape, axis);
    const auto x = scale_of(analysis, variable, sides.x), y = scale_of(analysis, variable, sides.y);
    const auto unit = units_of(variable).unit;
    Scene scene;
    scene.width = sides.x < 0 ? 1 : variable.shape[sides.x];
    scene.height = sides.y < 0 ? 1 : variable.shape[sides.y];
    scene.values = std::move(values);
    scene.title = fmt::format("{}   step {}   t = {:.6g}", variable.name, moment.step, moment.time);
    if (!words.title_end.empty()) scene.title += "   " + words.title_end;
    scene.label = unit.empty() ? words.label : fmt::format("{} [{}]", words.label, unit);
    scene.x_label = x.label;
    scene.y_label = y.label;
    scene.x_low = x.low;
    scene.x_high = x.high;
    scene.y_low = y.low;
    scene.y_high = y.high;
    scene.palette = analysis.palette;
    scene.log = analysis.log;
    scene.low = analysis.low;
    scene.high = analysis.high;
    scene.pixels = analysis.pixels;
    FB_TRY_ASSIGN(png, draw_png(scene));
    return Picture{variable.name, std::move(png)};
}

}  // namespace forebay::insitu
