// Shared by the operators of arrays: the checks of their input, and the picture of a resulting plane.

#pragma once

#include <string>
#include <vector>

#include "insight/insitu/analyser.hpp"

namespace forebay::insitu {

/// `refused` unless there is one variable, an array of `dims_min` dimensions or more. `verb`: "sliced".
Result<> check_array(std::span<const Variable> variables, int dims_min, const std::string& verb);
/// `refused` unless `axis` is a dimension of the variable.
Result<> check_axis(const Variable& variable, int axis);
/// `refused` if more than two dimensions of the plane are longer than 1: no picture can show it.
Result<> check_drawable(const Variable& variable, const Extents& plane);

/// Sets the attribute "missing" to the count of missing elements, if there are any.
void note_missing(Attributes& attributes, std::uint64_t missing);

/// Notes how `forebay plot` labels the axes of a result without dimension `axis` (-1: with all). Results of more than
/// two dimensions get no notes. The attributes "across" and "up" hold dimension names. Results of two dimensions with
/// analysis.length also get the sides of a cell: "cell_width" and "cell_height".
void note_sides(Attributes& attributes, const Analysis& analysis, const Variable& variable, int axis);

/// Sets the attribute "palette", read by `forebay plot`, unless the palette is ember, the default.
void note_palette(Attributes& attributes, const Analysis& analysis);

/// Text beside a picture.
struct PlaneWords {
    std::string title_end;  // follows variable, step and time: "z = 64"
    std::string label;      // of the colours, without unit: "sum of temperature"
};

/// The variable's name for a dimension, or "axis 0".
std::string dimension_name(const Variable& variable, int dim);

/// Draws the result of `variable` without its dimension `axis` (-1: with all), row-major. Axes count elements, or have
/// the lengths given in the analysis.
Result<Picture> draw_plane_of(const Analysis& analysis, const Variable& variable, int axis, std::vector<float> values,
                              const PlaneWords& words, const Moment& moment);

}  // namespace forebay::insitu
