// One file as the source of a mover: it takes the file's folder for a tree in which this file alone is seen, under the
// name that the copy has in its own folder. These two folders stay as they are.

#pragma once

#include <optional>
#include <string>

#include "core/sys/tree.hpp"
#include "transfer/walk/dir_node.hpp"
#include "transfer/walk/named_root.hpp"

namespace forebay::tree {

/// The file or object at `place`, links on the way to it followed; nothing where it is a folder or is not there.
Result<std::optional<NamedRoot>> file_at(const std::string& place);

/// The folder of `file` as one that has nothing but `name`, which is that file, that nothing can be made in, and that
/// differs from no other such folder.
FolderRef folder_of_one(NamedRoot file, std::string name);

/// Where the copy of a file is, or is to be: `refused` where `target` is a folder, or the file itself.
Result<NamedRoot> target_of_file(const NamedRoot& file, const std::string& source, const std::string& target);

/// Two trees, or two files as folders of one.
struct ComparedRoots {
    FolderRef source, target;
};
Result<ComparedRoots> open_compared(const std::string& source, const std::string& target);

/// Keeps other copies between the same two places out, of this machine at least: a locked file beside the target,
/// which is removed in the end. A kill leaves it, empty, to the same copy again.
class CopyLock {
public:
    /// `refused` where another one has it.
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
