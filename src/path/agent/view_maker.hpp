// The maker of views for an agent. The agent cannot make views itself: this library does not know HDF5.

#pragma once

#include <functional>

#include "core/sys/store.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::agent {

/// Makes a view of a committed snapshot; empty if no views are built in.
using ViewMaker = std::function<Result<>(sys::Store&, const catalog::Snapshot&, Convention)>;

}  // namespace forebay::agent
