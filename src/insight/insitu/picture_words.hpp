// Text, axes and the numbers of the colour bar around a plane. Cairo draws them, in a module that is loaded with the
// first picture: Cairo brings some twenty libraries, and a run without pictures loads none of them. In a build without
// Cairo a picture is the plane alone.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::insitu {

/// The words around a plane, and the size of the plane in pixels. Texts are UTF-8 that no terminal obeys (show_text).
struct PictureWords {
    std::string title, label, x_label, y_label;  // label: of the colour bar
    double x_low = 0, x_high = 0, y_low = 0, y_high = 0;
    double low = 0, high = 0;  // of the colours; an empty range has no numbers
    bool log = false;          // the colours are by the logarithm
    int plane_width = 0, plane_height = 0;
};

/// The whole picture before its colours: where the plane and the bar belong, and how dark each pixel is.
struct PictureInk {
    int width = 0, height = 0;
    int left = 0, top = 0;                                         // of the plane
    int bar_left = 0, bar_top = 0, bar_width = 0, bar_height = 0;  // no bar: all 0
    int stroke = 1;                                                // of the frames around both
    std::vector<std::uint8_t> darkness;                            // 0 of paper to 255 of ink, a row after the other
    std::string failure;                                           // why the words cannot be drawn; "": they are
};

/// `unsupported` if the module is there and cannot be loaded, `broken` if it cannot draw.
Result<PictureInk> ink_around(const PictureWords& words);

}  // namespace forebay::insitu
