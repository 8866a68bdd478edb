// What the operators of arrays share: which arrays they take, and how a plane that comes out becomes a picture.

#pragma once

#include <string>
#include <vector>

#include "insight/insitu/analyser.hpp"

namespace forebay::insitu {

/// `refused` unless the one variable is an array of at least `dims_min` dimensions. `verb`: as in "cannot be sliced".
Result<> check_array(std::span<const Variable> variables, int dims_min, const std::string& verb);
/// And unless `axis` is one of its dimensions.
Result<> check_axis(const Variable& variable, int axis);
/// `refused` where more than two dimensions of the plane are longer than 1, so that no picture shows it.
Result<> check_drawable(const Variable& variable, const Extents& plane);

/// The attribute "missing", where elements are not there: their count.
void note_missing(Attributes& attributes, std::uint64_t missing);

/// What `forebay plot` says along the axes of a result of `variable` without its dimension `axis` (-1: with all), where
/// that has one dimension or two: the names of its dimensions as the attributes "across" and "up"; and of two, with
/// analysis.length, the sides of a cell as "cell_width" and "cell_height".
void note_sides(Attributes& attributes, const Analysis& analysis, const Variable& variable, int axis);

/// The attribute "palette" by which `forebay plot` draws the result in the colours of the analysis; none of ember.
void note_palette(Attributes& attributes, const Analysis& analysis);

/// Text beside a picture.
struct PlaneWords {
    std::string title_end;  // behind variable, step and time: "z = 64"
    std::string label;      // of the colours, without the unit: "sum of temperature"
};

/// The name of a dimension: the variable's own word, or "axis 0".
std::string dimension_name(const Variable& variable, int dim);

/// The result of `variable` without its dimension `axis` (-1: with all), row-major, as a picture. Axes count elements,
/// or are as long as the analysis says.
Result<Picture> draw_plane_of(const Analysis& analysis, const Variable& variable, int axis, std::vector<float> values,
                              const PlaneWords& words, const Moment& moment);

}  // namespace forebay::insitu
