// Elements of any type of numbers as f64. Integers of 64 bits are rounded; all others keep their value.

#pragma once

#include <cstddef>
#include <span>

#include "forebay/describe.hpp"

namespace forebay::insitu {

/// Not complex, and no string.
bool is_real(Type type);
/// Whether the type has more digits than f32 and integers of 32 bits.
bool is_long(Type type);

/// The elements that begin at `from`, at any address, as many as `to` has; the type is_real().
void read_doubles(Type type, const std::byte* from, std::span<double> to);

}  // namespace forebay::insitu
