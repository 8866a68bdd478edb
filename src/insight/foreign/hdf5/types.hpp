// Types of foreign datasets, in Forebay's type names or in plain words.
//
// Threads: as h5/hdf5.hpp.

#pragma once

#include <string>

#include "insight/h5/hdf5.hpp"

namespace forebay::foreign {

/// "f32", "i64, big-endian", "string[16]", "c128, complex", "bool", "bfloat16", "enum of u8: RED=0, GREEN=1",
/// "compound of 12 bytes: a i32, b f64", "lists of f64". Empty for a type that HDF5 cannot read.
std::string type_text(const h5::Id& type);

}  // namespace forebay::foreign
