// Finished files in a local directory into which programs write: regular files whose path has no part that begins with
// a dot. Programs write under such a name and rename. Unreadable entries are always reported, never skipped silently.

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

/// A file that is not packed, or an unreadable directory. The path of a directory ends with a slash.
struct LeftOut {
    std::string path;
    Error why;
};
/// "a/b: open: spool/a/b: Permission denied", for the first few, and the number of the rest.
std::string text_of(const std::vector<LeftOut>& left_out);

struct Finished {
    std::vector<FinishedFile> files;  // oldest first
    std::vector<LeftOut> left_out;
    std::uint64_t bytes() const;
    bool empty() const { return files.empty() && left_out.empty(); }
};
/// An absent directory gives nothing. Links and special files are not packed.
Finished finished_in(const std::string& directory);

/// Removes a directory without finished files: unfinished files, links, then the directories. Each directory is removed
/// only when it is empty, so a file that is finished at this moment stays. True if the directory is gone.
Result<bool> remove_unfinished(const std::string& directory);

}  // namespace forebay::agent
