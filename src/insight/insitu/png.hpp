// Encodes pictures as PNG in memory, with libpng, and decodes them. Equal pictures give equal bytes.

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

/// False in a build without libpng. Then all that encodes or decodes returns `unsupported`.
bool has_png();

/// `colours`: 1 to 256, one for each number in the canvas. `broken` with libpng's message if libpng fails.
Result<std::vector<std::byte>> encode_png(const Canvas& canvas, std::span<const Colour> colours);

/// True if these first bytes of a file have the text "Software" that encode_png() writes to pictures and animations.
bool is_own_png(std::string_view bytes);

/// A picture of any colours: red, green and blue of each pixel, the top row first.
struct Photo {
    std::uint32_t width = 0, height = 0;
    std::vector<std::uint8_t> pixels;
};
Result<std::vector<std::byte>> encode_png(const Photo& photo);

/// Decodes PNG files of any program; transparent pixels lie on white. `corrupt` if it is not a PNG, or larger than
/// 16,384 x 16,384. Error texts begin with `name`.
Result<Photo> decode_png(std::span<const std::byte> png, const std::string& name);

}  // namespace forebay::insitu
