// Finished files in a directory of this machine in which programs write: regular files of which no part of the path
// begins with a dot. Programs write under such a name and rename. What cannot be looked at is told, never passed over.

#pragma once

#include <string>
#include <vector>

#include "core/format/packed.hpp"
#include "core/sys/local_file.hpp"

namespace forebay::agent {

struct FinishedFile {
    std::string path;  // below the directory
    sys::LocalFile seen;

    format::PackedFile packed() const;
};

/// A file that is not packed, or a directory of which nothing is known; then the path ends with a slash.
struct LeftOut {
    std::string path;
    Error why;
};
/// "a/b: open: spool/a/b: Permission denied", of the first few, and how many there are more.
std::string text_of(const std::vector<LeftOut>& left_out);

struct Finished {
    std::vector<FinishedFile> files;  // the oldest first
    std::vector<LeftOut> left_out;
    std::uint64_t bytes() const;
    bool empty() const { return files.empty() && left_out.empty(); }
};
/// Nothing of a directory that does not exist. Links and what is no file are not packed.
Finished finished_in(const std::string& directory);

/// Takes away a directory in which nothing is finished: unfinished files, links, then the directories, each only when
/// it is empty, so that a file that is finished at this moment keeps its place. Whether the directory is gone.
Result<bool> remove_unfinished(const std::string& directory);

}  // namespace forebay::agent
