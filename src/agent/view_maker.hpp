// How an agent has views made, which it cannot make itself: this library knows no HDF5.

#pragma once

#include <functional>

#include "catalog/catalog.hpp"
#include "sys/store.hpp"

namespace forebay::agent {

/// Makes a view of a committed snapshot; empty where no views are built in.
using ViewMaker = std::function<Result<>(sys::Store&, const catalog::Snapshot&, Convention)>;

}  // namespace forebay::agent
