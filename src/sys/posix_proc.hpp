// Reads a file of /proc, whose size is not known before. For sys/posix_*.cpp only.

#pragma once

#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

Result<std::string> read_proc(const char* path);

}  // namespace forebay::sys
