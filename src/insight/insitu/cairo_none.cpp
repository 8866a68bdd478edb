// Replaces words_cairo.cpp in a build without Cairo: a picture is the plane in its frame.

#include "insight/insitu/picture_words.hpp"

namespace forebay::insitu {

Result<PictureInk> ink_around(const PictureWords& words) {
    constexpr int margin = 4;
    PictureInk ink;
    ink.left = ink.top = margin + ink.stroke;
    ink.width = words.plane_width + 2 * ink.left;
    ink.height = words.plane_height + 2 * ink.top;
    ink.darkness.resize(static_cast<std::size_t>(ink.width) * static_cast<std::size_t>(ink.height));
    return ink;
}

}  // namespace forebay::insitu
