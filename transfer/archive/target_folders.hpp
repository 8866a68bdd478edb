// The folders of the target that entries are restored to, each reached name by name from the one above, so that no link
// is followed, whether others or the archive itself have planted it. What is missing is made, closed to others until it
// gets its own attributes.
//
// Threads: one, which goes from entry to entry; the next is often in the same folder.

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
    /// `root` is open, and has its status.
    TargetFolders(const Uses& uses, tree::DirNodeRef root, const ArchiveReader& reader)
        : use_(uses), reader_(&reader), root_(std::move(root)), at_(root_) {}
    ~TargetFolders() { leave(root_.get()); }
    TargetFolders(TargetFolders&&) = default;

    struct Place {
        tree::DirNodeRef dir_node;
        tree::FolderRef folder;
        bool was_made = false;  // just now
    };
    /// The folder of a clean path; "." is the root.
    Result<Place> reach(std::string_view path);
    /// That of the entry `path`, with what copies of entries take.
    Result<tree::CopyEntry> entry(std::string_view path);
    /// From now on folders that are closed to their owner stay so.
    void end_lending() { lends_ = false; }
    /// Folders that were made, of an archive that may have no entries of them.
    tree::SpillTexts& made() { return created_; }

private:
    void leave(const tree::DirNode* until);
    Result<tree::DirNodeRef> enter(const std::string& name);

    Uses use_;
    const ArchiveReader* reader_;
    tree::DirNodeRef root_, at_;
    tree::FolderRef folder_;  // of at_, where it was asked for
    std::string path_;        // of at_; empty of the root
    tree::SpillTexts created_;
    bool lends_ = true;
};

}  // namespace forebay::archive
