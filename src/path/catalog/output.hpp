// Checks the path of a file made from snapshots: an export, or a view with a name of your choice.

#pragma once

#include <span>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::catalog {

/// `refused` if the path is in a snapshot's directory, also through links: retention removes that directory with
/// everything in it. Such a directory has a manifest and any name, or it has a snapshot's name and lies beside a
/// committed snapshot. Also `refused` if the path leads to one of `files`, the sources of the new file.
Result<> check_output(sys::Store& store, const std::string& path, std::span<const std::string> files = {});

}  // namespace forebay::catalog
