// The colours of pictures: four palettes, computed in Oklab (Ottosson 2020), in which equal distances look equal. The
// lightness of three of them rises from end to end in even steps, so that they read in grey and to the colour-blind; it
// rises and falls in `balance`, whose middle is white. Colours that no screen shows lose chroma, never lightness.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forebay/options.hpp"

namespace forebay::insitu {

/// Of sRGB.
struct Colour {
    std::uint8_t red = 0, green = 0, blue = 0;
    friend bool operator==(const Colour&, const Colour&) = default;
};

/// `count` of them, at least 2, from the lowest value to the highest.
std::vector<Colour> colours_of(Palette palette, std::size_t count);

/// Whether the middle of the palette stands for 0: it diverges from there.
inline bool is_around_zero(Palette palette) { return palette == Palette::balance; }

/// Oklab's lightness, 0 of black to 1 of white.
double lightness_of(Colour colour);

}  // namespace forebay::insitu
