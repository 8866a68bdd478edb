// Looks at the node files of a part directory: are all there, and do they make one snapshot? The same files give the
// same manifest, and the same heads of combined files, in whichever agent gathers them.

#pragma once

#include <string>

#include "core/format/manifest.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/forms/file_form.hpp"

namespace forebay::commit {

/// The files that have arrived in a part directory. Lists the directory and its folders, reads 8 KiB of one node file,
/// and the pages of files of several nodes.
Result<catalog::Arrived> look_at_part(sys::Store& store, const std::string& directory);

/// Reads every node file's head and makes the manifest. `refused` when a file is of another snapshot or disagrees
/// with the others, `missing` when one is not sealed or not there, `corrupt` when one is damaged. Writes the heads of
/// combined files, durably: the same bytes whoever gathers.
Result<format::Manifest> gather(sys::Store& store, const std::string& directory, const catalog::WantedSnapshot& wanted);

}  // namespace forebay::commit
