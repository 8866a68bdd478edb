// A Store that follows no link, and changes nothing in mounts, below the directories that it was opened for.
//
// Links on the path to a root are followed, because the user chose that path. Below a root no link is followed, whoever
// makes it and when. A link is listed as no directory. To open it or to pass through it is `refused`. A path outside
// all roots is `refused`. Directories are made one by one.
//
// A mount below a root may be a part of another tree, so it is only read. A change in it is `refused`, as far as the
// kernel reports mounts (Linux 5.8 and newer). A root may be a mount itself.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/sys/store.hpp"

namespace forebay::sys {

std::unique_ptr<Store> open_posix_store_below(std::vector<std::string> roots);
/// The same with addresses, as in target_store().
std::unique_ptr<Store> open_target_store_below(std::vector<std::string> roots);

}  // namespace forebay::sys
