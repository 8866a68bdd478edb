// Pictures of planes: a field of numbers and its colours, and around it axes, a colour bar with its unit and a line of
// text, as PNG. Needs no display. In a build without Cairo nothing is around the field (insitu/picture_words.hpp).

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay::insitu {

/// A plane and what is written around it.
struct Scene {
    std::vector<float> values;  // row-major; NaN is drawn in a grey of its own
    std::uint64_t width = 0;    // of a row
    std::uint64_t height = 0;   // rows; the first one is drawn at the bottom
    std::string title;          // "temperature   step 120   t = 3.5"
    std::string label;          // of the colour bar: "temperature [K]"
    std::string x_label, y_label;
    double x_low = 0, x_high = 0;  // what the axes' ends stand for
    double y_low = 0, y_high = 0;
    Palette palette = Palette::ember;
    bool log = false;  // colours by the logarithm; what is not above 0 is drawn as NaN
    double low = std::numeric_limits<double>::quiet_NaN();  // of the colours; NaN: the smallest value that is there
    double high = std::numeric_limits<double>::quiet_NaN();
    int pixels = 1024;  // of the longer side of the plane itself, at most; a smaller one is enlarged by whole numbers
};

/// The file's bytes. `refused` for a plane without elements, or of another size than it says; errors of ink_around().
Result<std::vector<std::byte>> draw_png(const Scene& scene);

}  // namespace forebay::insitu
