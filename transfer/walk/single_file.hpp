// One file as the source: its directory is presented as a tree with only this file, under the name of its copy. The
// attributes of the two directories are not changed.

#pragma once

#include <optional>
#include <string>

#include "core/sys/tree.hpp"
#include "transfer/walk/dir_node.hpp"
#include "transfer/walk/named_root.hpp"

namespace forebay::tree {

/// The file or object at `place`, behind symbolic links; nothing if it is a directory or missing.
Result<std::optional<NamedRoot>> file_at(const std::string& place);

/// A read-only directory with one entry, `name`, which is `file`. All such directories have equal attributes.
FolderRef folder_of_one(NamedRoot file, std::string name);

/// The place of a file's copy. Returns `refused` if `target` is a directory or the file itself.
Result<NamedRoot> target_of_file(const NamedRoot& file, const std::string& source, const std::string& target);

/// Two trees, or two files as directories of one entry.
struct ComparedRoots {
    FolderRef source, target;
};
Result<ComparedRoots> open_compared(const std::string& source, const std::string& target);

/// Excludes other copies between the same two places, at least on this machine: a locked file beside the target. The
/// destructor removes it. If the process is killed, the empty file stays and the next copy reuses it.
class CopyLock {
public:
    /// Returns `refused` if another process holds it.
    static Result<CopyLock> take(FolderRef folder, const std::string& name);
    CopyLock(CopyLock&&) = default;
    CopyLock& operator=(CopyLock&&) = delete;
    ~CopyLock() {
        if (file_) static_cast<void>(folder_->remove(name_));
    }

private:
    CopyLock(FolderRef folder, std::string name, std::unique_ptr<sys::OpenFile> file)
        : folder_(std::move(folder)), name_(std::move(name)), file_(std::move(file)) {}

    FolderRef folder_;
    std::string name_;
    std::unique_ptr<sys::OpenFile> file_;
};

}  // namespace forebay::tree
