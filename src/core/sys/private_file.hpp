// Files and directories that are closed to others: tokens, what is staged.

#pragma once

#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

/// Creates a directory that belongs to this user alone (0700); an existing one is accepted only if it is a
/// directory, not a link, owned by this user and closed to others; else `refused` with the reason.
Result<> make_private_directory(const std::string& path);

/// The text, of at most 64 KiB, of a file of this user that is closed to others; `refused` for another file.
Result<std::string> read_private(const std::string& path);
/// Gives `path` this content, in a file that is closed to others from the first moment on.
Result<> write_private(const std::string& path, const std::string& text);
/// The same for a new file; false, and nothing is changed, where one is. Of several that call it, of any hosts, one
/// makes the file.
Result<bool> create_private(const std::string& path, const std::string& text);

}  // namespace forebay::sys
