// errno as an Error: its kind, and a text with call, path and reason. For sys/posix_*.cpp only.

#pragma once

#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::sys {

/// The kind of an errno. `retry`: EIO, ETIMEDOUT and similar, which may pass. `full`: ENOSPC, EDQUOT, no memory, no
/// descriptors. `missing`: ENOENT. `refused`: permissions, links and misplaced names. `unsupported`: calls that the
/// file system lacks. `broken`: the rest.
ErrorKind kind_of(int number);

/// "pwrite of 4096 bytes at 8192: PATH: No space left on device". `call` may include offset and bytes. Names are made
/// printable (base/show_text.hpp), because system calls are the first to meet odd names in directories.
Error posix_error(std::string_view call, std::string_view path, int number);

/// The same for a call on an open descriptor. Such a call cannot lack a name: libpil4dfs returns ENOENT or ENOTDIR
/// for a file that it opened a moment ago (measured), so these are `retry`.
Error descriptor_error(std::string_view call, std::string_view path, int number);

}  // namespace forebay::sys
