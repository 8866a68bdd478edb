// Pictures of at most 256 colours as PNG, by libpng into memory. The same picture is the same bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forebay/result.hpp"
#include "insitu/canvas.hpp"
#include "insitu/palette.hpp"

namespace forebay::insitu {

/// `colours`: 1 to 256, one for each number that the canvas has. `broken` where libpng fails, with its words.
Result<std::vector<std::byte>> encode_png(const Canvas& canvas, std::span<const Colour> colours);

}  // namespace forebay::insitu
