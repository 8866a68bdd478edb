// The folders of the target: made, entered, cleaned of what a killed copy left, and finished when all in them is there.
//
// Threads: any; a branch is entered by one of them, and finished by one.

#pragma once

#include <set>
#include <string>

#include "transfer/copy/layouts.hpp"
#include "transfer/copy/look_up.hpp"
#include "transfer/copy/losses.hpp"
#include "transfer/copy/publisher.hpp"

namespace forebay::tree {

class FolderMaker {
public:
    struct Uses {
        const TreeCopyOptions& options;
        EntryLog& entry_log;
        CopyCounts& counts;
        WorkShare& share;
        OpenFolders& folders;
        NewEntries& new_entries;
        Layouts& layouts;
        Losses& losses;
        Lookup& lookup;
        NamePublisher& publisher;
        Failures& failures;
        const TemporaryNames& names;
        const FolderRef& asked;  // as EntryCopier has it
        bool has_others;         // the roots are folders of others, of which one entry is meant: they stay as they are
    };
    explicit FolderMaker(const Uses& uses) : use_(uses) {}

    /// Makes it, or opens the one that is there. In a dry run it says what would be made.
    Result<> enter(const DirNodeRef& dir_node);
    /// The same of the target's folder of `dir_node` that is open, as the root is.
    Result<> prepare(const DirNodeRef& dir_node, sys::Folder& target);
    void finish(const DirNodeRef& dir_node);
    /// A folder that was finished can be filled again.
    Result<> chmod_again(const DirNodeRef& dir_node);

private:
    Result<> claim_folder(const DirNodeRef& dir_node);
    Result<FolderRef> make_folder(const DirNodeRef& dir_node, sys::Folder& above);
    Result<> enter_dry(const DirNodeRef& dir_node);
    Result<> check_is_meant(const DirNode& dir_node, sys::EntryKind kind) const;
    /// New files in it lie as those of the source's folder, where that is wished.
    void give_layout(const DirNodeRef& dir_node, sys::Folder& target);
    Result<> prepare_target(const DirNodeRef& dir_node, sys::Folder& folder);
    Result<std::set<std::string>> temporaries_in(sys::Folder& folder) const;
    Result<> sweep(const DirNodeRef& dir_node, sys::Folder& folder);
    Result<> find_leftovers(const DirNodeRef& dir_node, sys::Folder& folder);
    Result<> remove_leftovers(DirNode& dir_node, sys::Folder& target);
    /// All that it is to have; in a dry run what the target could not keep of it.
    Result<> try_finish(const DirNodeRef& dir_node);
    Result<> would_finish(const DirNodeRef& dir_node);
    Result<> give_all(const DirNodeRef& dir_node, sys::Folder& target);
    /// Whether the root is nothing but where the one entry lies that is meant.
    bool is_of_others(const DirNode& dir_node) const { return use_.has_others && !dir_node.parent; }

    const Uses use_;
};

}  // namespace forebay::tree
