// Elements of one type as those of another that holds each of their values exactly; and i64 as u64 and back, which ids
// are in some conventions. Pure; knows no HDF5.

#pragma once

#include <cstddef>
#include <cstdint>

#include "forebay/describe.hpp"

namespace forebay::describe {

struct Conversion {
    /// Converts `count` elements; the memory must not overlap. Null where the bytes stay as they are.
    void (*run)(std::byte* to, const std::byte* from, std::uint64_t count) = nullptr;
};

/// `unsupported` where values could be lost.
Result<Conversion> conversion(Type from, Type to);

}  // namespace forebay::describe
