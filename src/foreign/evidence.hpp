// What the elements of an array are of which a file says only where it begins: judged by size and by first bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "forebay/describe.hpp"

namespace forebay::foreign {

/// f64, i64, i32 or u8. Eight-byte words that would all be tiny or not-a-number as a float are integers: no simulation
/// has a field of denormal numbers. Words of zeros say nothing; zeros alone are f64, which has the same bytes.
/// `sample` is the beginning of `size_bytes`, in the file's byte order.
Type guess_type(std::span<const std::byte> sample, std::uint64_t size_bytes, bool big_endian);

/// Whether all of it is printable ASCII.
bool is_text(std::span<const std::byte> bytes);

/// Follows PALM's surface data front to back: each column of the grid has one element that holds a count, then as many
/// values.
class SurfaceWalk {
public:
    explicit SurfaceWalk(std::uint64_t columns) : columns_(columns) {}
    /// False as soon as the elements cannot be surface data.
    bool take(std::span<const std::byte> elements, bool big_endian);
    /// After the last element: whether there were as many columns as the grid has.
    bool ends_well() const { return good_ && skip_ == 0 && seen_ == columns_; }

private:
    std::uint64_t columns_;
    std::uint64_t seen_ = 0;
    std::uint64_t skip_ = 0;
    bool good_ = true;
};

}  // namespace forebay::foreign
