// Values of replicated variables of a committed snapshot, such as results of analyses: without a view, each verified.
// One file is opened, whatever their number.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/format/manifest.hpp"
#include "core/sys/store.hpp"

namespace forebay::catalog {

/// Of each of `variables`, which count in the schema of the snapshot's manifest and are replicated: its bytes. Errors
/// as of BlockReader.
Result<std::vector<std::vector<std::byte>>> read_values(sys::Store& store, const std::string& directory,
                                                        const format::Manifest& manifest,
                                                        std::span<const std::size_t> variables);

}  // namespace forebay::catalog
