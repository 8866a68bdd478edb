// Text, axes and colour bar numbers around a plane. Cairo draws them, in a module loaded with the first picture: Cairo
// brings some twenty libraries, and a run without pictures loads none of them. Without Cairo a picture has only the
// plane.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::insitu {

/// The words around a plane, and the plane's size in pixels. Texts are UTF-8 without control characters (show_text).
struct PictureWords {
    std::string title, label, x_label, y_label;  // label: of the colour bar
    double x_low = 0, x_high = 0, y_low = 0, y_high = 0;
    double low = 0, high = 0;  // of the colours; an empty range gets no numbers
    bool log = false;          // logarithmic colours
    int plane_width = 0, plane_height = 0;
};

/// The picture without its colours: the places of plane and bar, and the darkness of each pixel.
struct PictureInk {
    int width = 0, height = 0;
    int left = 0, top = 0;                                         // of the plane
    int bar_left = 0, bar_top = 0, bar_width = 0, bar_height = 0;  // no bar: all 0
    int stroke = 1;                                                // of the frames around both
    std::vector<std::uint8_t> darkness;                            // 0 for paper to 255 for ink, row by row
    std::string failure;                                           // why the words cannot be drawn; "" on success
};

/// `unsupported` if the module exists but cannot be loaded, `broken` if it cannot draw.
Result<PictureInk> ink_around(const PictureWords& words);

}  // namespace forebay::insitu
