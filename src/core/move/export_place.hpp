// The place of an export: what stands under its name, and what earlier or other exports left beside it.
//
//   FILE.part-ID             the file until it is whole; ID is 16 hexadecimal digits
//   FILE.part-ID.journal     or .journal-I-of-N: how far the copying has come
//
// No lock says whether a part is still being written: file systems of several hosts do not agree on locks. So only a
// part of the same ID is gone on with, and others are left alone unless the caller said to replace.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/sys/store.hpp"

namespace forebay::move {

/// Gives `part_path`, whose bytes are durable, its name: whole or absent there, whatever fails or is cut off.
Result<> put_in_place(sys::Store& store, const std::string& part_path, const std::string& path);

/// `missing` without a directory to stand in, `refused` for a directory and, without `replace`, for any file there.
/// `stays` ends the sentence: what was written so far.
Result<> check_target(sys::Store& store, const std::string& path, bool replace, const std::string& stays);

/// Removes, durably, what earlier calls left beside `path` that nothing can go on with: the own part where it has not
/// `file_bytes`, journals without a part, and with `replace` the parts of other exports. `refused` for these without.
/// Gives sentences about it.
Result<std::vector<std::string>> discard_stale(sys::Store& store, const std::string& path, const std::string& part_path,
                                               std::uint64_t file_bytes, bool replace);

/// `retry` when the part is gone or has another size: another export to the same name finished or replaced it.
Result<> check_part(sys::Store& store, const std::string& path, const std::string& part_path, std::uint64_t file_bytes);

}  // namespace forebay::move
