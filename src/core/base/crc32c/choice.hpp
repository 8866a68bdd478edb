// The kernels of this build, and which of them this CPU and the user choose.

#pragma once

#include <span>
#include <string_view>

#include "core/base/crc32c/kernel.hpp"
#include "forebay/result.hpp"

namespace forebay::crc32c_kernels {

/// All of this build, the fastest first. The last one works everywhere.
std::span<const Kernel* const> all();

/// The fastest that works on this CPU, or the one that `wish` names; `refused` where that does not work here. An empty
/// wish is none.
Result<const Kernel*> choose(std::string_view wish);

}  // namespace forebay::crc32c_kernels
