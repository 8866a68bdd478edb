// Files and directories that are closed to other users: tokens, staged data.

#pragma once

#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

/// Creates a directory with mode 0700. An existing directory is accepted only if it is no link, belongs to this user
/// and is closed to other users; else `refused` with the reason.
Result<> make_private_directory(const std::string& path);

/// The text, at most 64 KiB, of a private file of this user; `refused` for any other file.
Result<std::string> read_private(const std::string& path);
/// Gives `path` this content, in a file that is private from the first moment on.
Result<> write_private(const std::string& path, const std::string& text);
/// Creates a new private file. Returns false, and changes nothing, if the name is taken. If several processes of any
/// hosts call it, only one makes the file.
Result<bool> create_private(const std::string& path, const std::string& text);

}  // namespace forebay::sys
