// Mounts of dfuse, by which the kernel shows containers of DAOS.

#pragma once

#include <chrono>
#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

/// `unsupported` if this process preloads libpil4dfs in its compatible mode, and a run on dfuse would be written by
/// it. Files that the library makes are then missing for the kernel, and commits fail (measured). Asks the kernel only
/// in such a process.
Result<> check_preloaded_for_run(const std::string& run);

/// DAOS gives the room of removed files back after 20 to 30 s (measured), on dfuse and by libdfs. 0 for other targets.
std::chrono::milliseconds room_comes_back_after(const std::string& target);

}  // namespace forebay::sys
