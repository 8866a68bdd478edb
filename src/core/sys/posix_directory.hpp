// An open directory with an owner. For sys/posix_*.cpp only.

#pragma once

#include <dirent.h>

#include <memory>

namespace forebay::sys {

struct DirectoryCloser {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, DirectoryCloser>;

}  // namespace forebay::sys
