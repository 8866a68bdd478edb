// Pictures as PNG, by libpng into memory, and back. The same picture is the same bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"
#include "insight/insitu/canvas.hpp"
#include "insight/insitu/palette.hpp"

namespace forebay::insitu {

/// `colours`: 1 to 256, one for each number that the canvas has. `broken` where libpng fails, with its words.
Result<std::vector<std::byte>> encode_png(const Canvas& canvas, std::span<const Colour> colours);

/// Whether a file that begins so is a picture or an animation of encode_png(), which says so in its text "Software".
bool is_own_png(std::string_view bytes);

/// A picture of any colours: red, green and blue of each pixel, the first row on top.
struct Photo {
    std::uint32_t width = 0, height = 0;
    std::vector<std::uint8_t> pixels;
};
Result<std::vector<std::byte>> encode_png(const Photo& photo);

/// Of anybody's PNG; what is transparent lies on white. `corrupt` for what is none, or larger than 16,384 x 16,384;
/// `name` is for texts.
Result<Photo> decode_png(std::span<const std::byte> png, const std::string& name);

}  // namespace forebay::insitu
