// The colours of pictures: four palettes, computed in Oklab (Ottosson 2020), where equal distances look equal. In three
// of them lightness rises in even steps, so they can be read in grey and by colour-blind people. `balance` rises to
// white in its middle and falls again. If no screen shows a colour, it loses chroma, never lightness.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forebay/options.hpp"

namespace forebay::insitu {

/// A colour in sRGB.
struct Colour {
    std::uint8_t red = 0, green = 0, blue = 0;
    friend bool operator==(const Colour&, const Colour&) = default;
};

/// Returns `count` colours, at least 2, from the lowest value to the highest.
std::vector<Colour> colours_of(Palette palette, std::size_t count);

/// True if the palette diverges from a middle that stands for 0.
inline bool is_around_zero(Palette palette) { return palette == Palette::balance; }

/// Oklab's lightness: 0 for black to 1 for white.
double lightness_of(Colour colour);

}  // namespace forebay::insitu
