// errno as an Error: which kind it is, and a text that names call, path and reason. For sys/posix_*.cpp only.

#pragma once

#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::sys {

/// What a caller should do about an errno: EIO, ETIMEDOUT and their like may pass (`retry`), ENOSPC and EDQUOT are
/// `full` as no more memory or descriptors are, ENOENT is `missing`, permissions, links and misplaced names are
/// `refused`, calls that the file system does not have are `unsupported`, the rest is `broken`.
ErrorKind kind_of(int number);

/// "pwrite of 4096 bytes at 8192: PATH: No space left on device". `call` may carry offset and bytes. Names are shown
/// (base/show_text.hpp): of all that a directory holds, the system's calls meet it first.
Error posix_error(std::string_view call, std::string_view path, int number);

}  // namespace forebay::sys
