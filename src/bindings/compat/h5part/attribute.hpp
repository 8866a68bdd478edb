// An attribute of a file or of a step for a snapshot, and H5Part's type codes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::h5part {

struct H5PartAttribute {
    std::string name;
    Type type;
    std::uint64_t count = 1;  // of elements; 1 for a text
    std::vector<std::byte> value;
};

/// `code` is an id of HDF5. `unsupported` for a type that H5Part's attributes do not have.
Result<H5PartAttribute> make_attribute(const std::string& name, std::int64_t code, const void* value,
                                       std::int64_t count);

/// The error for a missing attribute, of the kind whose code H5Part returns.
Error no_attribute(const std::string& name);

/// H5Part's code for an element of HDF5's class and size; `unsupported` if it has no such code.
Result<std::int64_t> code_of_h5_type(std::int64_t type);
std::int64_t code_of(Type type);

}  // namespace forebay::h5part
