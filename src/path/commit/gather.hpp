// Checks if all node files of a part directory are there, and if they make one snapshot. The same files give the same
// manifest, and the same heads of combined files, in any agent.

#pragma once

#include <string>

#include "core/format/manifest.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/forms/file_form.hpp"

namespace forebay::commit {

/// Returns the files that have arrived in a part directory. Lists the directory and its subdirectories, reads 8 KiB of
/// one node file, and the pages of files of several nodes.
Result<catalog::Arrived> look_at_part(sys::Store& store, const std::string& directory);

/// Reads the head of every node file and makes the manifest. `refused` if a file belongs to another snapshot or
/// contradicts the remaining files, `missing` if a file is absent or not sealed, `corrupt` if a file is damaged. Writes
/// the heads of combined files durably, with the same bytes in every agent.
Result<format::Manifest> gather(sys::Store& store, const std::string& directory, const catalog::WantedSnapshot& wanted);

}  // namespace forebay::commit
