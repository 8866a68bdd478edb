// The maker of views for an agent, which cannot make them itself: this library knows no HDF5.

#pragma once

#include <functional>

#include "core/sys/store.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::agent {

/// Makes a view of a committed snapshot; empty where no views are built in.
using ViewMaker = std::function<Result<>(sys::Store&, const catalog::Snapshot&, Convention)>;

}  // namespace forebay::agent
