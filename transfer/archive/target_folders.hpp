// The target directories of a restore. Each is opened by its name in its parent, so that no symbolic link is followed,
// neither of another user nor of the archive. Missing directories are made, closed to other users until they get their
// own attributes.
//
// Threads: one, which goes from entry to entry; the next entry is often in the same directory.

#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "transfer/archive/reader.hpp"
#include "transfer/copy/new_entries.hpp"
#include "transfer/copy/publisher.hpp"
#include "transfer/tables/spill_texts.hpp"

namespace forebay::archive {

class TargetFolders {
public:
    struct Uses {
        tree::OpenFolders& folders;
        const tree::NewEntries& new_entries;
        tree::NamePublisher& publisher;
    };
    /// `root` is open and has its status.
    TargetFolders(const Uses& uses, tree::DirNodeRef root, const ArchiveReader& reader)
        : use_(uses), reader_(&reader), root_(std::move(root)), at_(root_) {}
    ~TargetFolders() { leave(root_.get()); }
    TargetFolders(TargetFolders&&) = default;

    struct Place {
        tree::DirNodeRef dir_node;
        tree::FolderRef folder;
        bool was_made = false;  // by this call
    };
    /// The directory of a clean path; "." is the root.
    Result<Place> reach(std::string_view path);
    /// The directory of the entry `path`, as a CopyEntry.
    Result<tree::CopyEntry> entry(std::string_view path);
    /// From now on directories closed to their owner get no temporary chmod.
    void end_lending() { lends_ = false; }
    /// New directories, for an archive that may lack entries for them.
    tree::SpillTexts& made() { return created_; }

private:
    void leave(const tree::DirNode* until);
    Result<tree::DirNodeRef> enter(const std::string& name);

    Uses use_;
    const ArchiveReader* reader_;
    tree::DirNodeRef root_, at_;
    tree::FolderRef folder_;  // of at_, if it was asked for
    std::string path_;        // of at_; empty for the root
    tree::SpillTexts created_;
    bool lends_ = true;
};

}  // namespace forebay::archive
