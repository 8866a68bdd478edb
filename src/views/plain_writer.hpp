// Writes what was gathered as the plain view: bytes of an HDF5 file, made in memory. docs/formats/view.md.

#pragma once

#include <string>

#include "views/contents.hpp"

namespace forebay::views {

/// The same contents give the same bytes.
Result<std::string> write_plain(const Contents& contents);

}  // namespace forebay::views
