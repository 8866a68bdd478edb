// Guesses the element type of an array from its size and first bytes, if the file gives only its start.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "forebay/describe.hpp"

namespace forebay::foreign {

/// Returns f64, i64, i32 or u8. Eight-byte words count as integers under three conditions. Each word that is not zero
/// would be tiny or NaN as a float. It holds one or two small numbers. At least half of all words are not zero, because
/// unset memory holds addresses and zeros, which are denormal too. Zeros only are f64, with the same bytes.
/// `sample` is the beginning of `size_bytes`, in the file's byte order.
Type guess_type(std::span<const std::byte> sample, std::uint64_t size_bytes, bool big_endian);

/// True if the eight-byte words look like a simulation's floats: each is zero, the largest double, or of size 1e-30 to
/// 1e30, and at least one is not zero. Pairs of integers do not look like this.
bool is_real(std::span<const std::byte> sample, bool big_endian);

/// True if all bytes are printable ASCII.
bool is_text(std::span<const std::byte> bytes);

}  // namespace forebay::foreign
