// The Store of what users name.

#pragma once

#include <memory>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::sys {

/// Paths of this machine, and addresses such as s3://bucket/prefix, each call by the path that it gets. Errors of
/// addresses: `unsupported` where this build cannot reach them.
Store& target_store();

/// What a module is asked for, and what it gives: all that lies in the bucket of an address.
using OpenedStore = Result<std::unique_ptr<Store>>;
using OpenFarStore = void (*)(const std::string& address, OpenedStore& opened);

}  // namespace forebay::sys
