// Where a file that is made of snapshots may stand: an export, or a view that is asked for by its name.

#pragma once

#include <span>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::catalog {

/// `refused` for a path in a snapshot's directory, through links too: node files are there, and retention removes it
/// with all in it. That is a directory with a manifest, whatever it is called, and one that has a snapshot's name and
/// lies beside a committed one. `refused` as well for a path that leads to one of `files`, which it is made of.
Result<> check_output(sys::Store& store, const std::string& path, std::span<const std::string> files = {});

}  // namespace forebay::catalog
