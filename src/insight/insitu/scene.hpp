// Draws planes: a field of numbers as colours, with axes, a colour bar with its unit, and a line of text, as PNG. Needs
// no display. A build without Cairo draws only the field (insitu/picture_words.hpp).

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay::insitu {

/// A plane and the words around it.
struct Scene {
    std::vector<float> values;  // row-major; NaN gets its own grey
    std::uint64_t width = 0;    // of a row
    std::uint64_t height = 0;   // rows, the bottom row first
    std::string title;          // "temperature   step 120   t = 3.5"
    std::string label;          // of the colour bar: "temperature [K]"
    std::string x_label, y_label;
    double x_low = 0, x_high = 0;  // values at the axes' ends
    double y_low = 0, y_high = 0;
    Palette palette = Palette::ember;
    bool log = false;                                       // logarithmic colours; values not above 0 are drawn as NaN
    double low = std::numeric_limits<double>::quiet_NaN();  // of the colours; NaN: the smallest value
    double high = std::numeric_limits<double>::quiet_NaN();
    int pixels = 1024;  // the most along the plane's longer side; small planes are enlarged by whole numbers
};

/// Returns the file. `refused` for a plane without elements, or whose size does not match. Errors as ink_around().
Result<std::vector<std::byte>> draw_png(const Scene& scene);

}  // namespace forebay::insitu
