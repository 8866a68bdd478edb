// What the elements of an array are of which a file says only where it begins: judged by size and by first bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "forebay/describe.hpp"

namespace forebay::foreign {

/// f64, i64, i32 or u8. Eight-byte words are integers when each that is not zero would be tiny or not-a-number as a
/// float, holds one or two small numbers, and half of all words are not zero: memory that nobody set has addresses and
/// zeros in it, which are denormal numbers too. Zeros alone are f64, which has the same bytes.
/// `sample` is the beginning of `size_bytes`, in the file's byte order.
Type guess_type(std::span<const std::byte> sample, std::uint64_t size_bytes, bool big_endian);

/// Whether its eight-byte words are floats as simulations have them: each is zero, the largest number there is, or has
/// a size from 1e-30 to 1e30, and one is not zero. Pairs of integers are no such words.
bool is_real(std::span<const std::byte> sample, bool big_endian);

/// Whether all of it is printable ASCII.
bool is_text(std::span<const std::byte> bytes);

}  // namespace forebay::foreign
