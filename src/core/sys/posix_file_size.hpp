// The limit on the size of files that a process writes. For sys/posix_*.cpp only.

#pragma once

#include <cstdint>
#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

/// `full` if this process may not make `path` as long as `end_bytes` (RLIMIT_FSIZE). Call it before any call that lets
/// a file grow: the kernel answers such a call with a signal, which ends the process.
Result<> check_file_size(const std::string& path, std::uint64_t end_bytes);

}  // namespace forebay::sys
