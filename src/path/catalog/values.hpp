// Reads values of replicated variables of a committed snapshot, such as results of analyses. It needs no view and
// verifies each value. It opens one file for any number of values.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/format/manifest.hpp"
#include "core/sys/store.hpp"

namespace forebay::catalog {

/// The bytes of each of `variables`. They are indexes in the schema of the snapshot's manifest and must be replicated.
/// Errors as BlockReader.
Result<std::vector<std::vector<std::byte>>> read_values(sys::Store& store, const std::string& directory,
                                                        const format::Manifest& manifest,
                                                        std::span<const std::size_t> variables);

}  // namespace forebay::catalog
