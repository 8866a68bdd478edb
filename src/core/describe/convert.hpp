// Converts elements to a type that holds each of their values exactly. Also converts between i64 and u64, because
// conventions differ in the type of ids. Pure functions without HDF5.

#pragma once

#include <cstddef>
#include <cstdint>

#include "forebay/describe.hpp"

namespace forebay::describe {

struct Conversion {
    /// Converts `count` elements. The memory must not overlap. Null if the bytes stay the same.
    void (*run)(std::byte* to, const std::byte* from, std::uint64_t count) = nullptr;
};

/// `unsupported` if values could be lost.
Result<Conversion> conversion(Type from, Type to);

}  // namespace forebay::describe
