// The Store for places that users give.

#pragma once

#include <memory>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::sys {

/// Each call goes to the place of its path: this machine, or an address such as s3://bucket/prefix. `unsupported` if
/// this build cannot reach the address.
Store& target_store();

/// The function of a module, and its result: the Store of a bucket.
using OpenedStore = Result<std::unique_ptr<Store>>;
using OpenFarStore = void (*)(const std::string& address, OpenedStore& opened);

}  // namespace forebay::sys
