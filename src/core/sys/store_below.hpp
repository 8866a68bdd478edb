// A Store that follows no link, and changes nothing that is mounted, below the directories that it was opened for.
//
// Links above a root and in its place are followed, as whoever named it wishes. Below it none is, whoever plants it and
// when: a link is listed as no directory, and `refused` where it is opened or stands on the way. Whatever lies in none
// of the roots is `refused`. Directories are made one by one.
//
// What is mounted below a root, which may be a part of another tree, is read alone: to change something in it is
// `refused`, as far as the kernel tells mounts (Linux 5.8 and newer). A root may be a mount itself.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/sys/store.hpp"

namespace forebay::sys {

std::unique_ptr<Store> open_posix_store_below(std::vector<std::string> roots);
/// With all that is reached by addresses, as target_store() has it.
std::unique_ptr<Store> open_target_store_below(std::vector<std::string> roots);

}  // namespace forebay::sys
