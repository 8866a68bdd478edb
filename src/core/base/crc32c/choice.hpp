// The kernels of this build, and the choice of a kernel by CPU and user.

#pragma once

#include <span>
#include <string_view>

#include "core/base/crc32c/kernel.hpp"
#include "forebay/result.hpp"

namespace forebay::crc32c_kernels {

/// All kernels of this build, the fastest first. The last kernel works everywhere.
std::span<const Kernel* const> all();

/// The fastest kernel that works on this CPU, or the kernel with the name `wish`; `refused` if that does not work here.
/// An empty `wish` means no choice.
Result<const Kernel*> choose(std::string_view wish);

}  // namespace forebay::crc32c_kernels
