// The place of an export: the file under its name, and the remains of earlier or other exports beside it.
//
//   FILE.part-ID             the file until it is whole; ID is 16 hexadecimal digits
//   FILE.part-ID.journal     or .journal-I-of-N: the progress of the copy
//
// No lock marks a part that is still being written, because file systems of several hosts do not agree on locks. So an
// export continues only a part with its own ID, and leaves other parts alone unless the caller asks to replace.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/sys/store.hpp"

namespace forebay::move {

/// Renames `part_path`, whose bytes are durable, to `path`: there it is whole or absent after any failure or crash.
Result<> put_in_place(sys::Store& store, const std::string& part_path, const std::string& path);

/// Checks the name of an export. `missing` if its directory does not exist. `refused` if a directory has the name or,
/// without `replace`, any file. `stays` ends the error's sentence: what was written so far.
Result<> check_target(sys::Store& store, const std::string& path, bool replace, const std::string& stays);

/// Removes, durably, remains of earlier calls beside `path` that no export can continue: the own part if its size is
/// not `file_bytes`, journals without a part, and with `replace` the parts of other exports. Without `replace`, parts
/// of other exports are `refused`. Returns sentences about the removed parts.
Result<std::vector<std::string>> discard_stale(sys::Store& store, const std::string& path, const std::string& part_path,
                                               std::uint64_t file_bytes, bool replace);

/// `retry` if the part is gone or has another size: another export to the same name finished or replaced it.
Result<> check_part(sys::Store& store, const std::string& path, const std::string& part_path, std::uint64_t file_bytes);

}  // namespace forebay::move
