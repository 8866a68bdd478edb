// The directories of the target: made, entered, cleaned after a killed copy, and finished when all in them is done.
//
// Threads: any; one thread enters a directory node, and one finishes it.

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
        const FolderRef& asked;  // as in EntryCopier
        bool has_others;  // the roots hold other entries too: only one entry is copied, and the roots stay unchanged
    };
    explicit FolderMaker(const Uses& uses) : use_(uses) {}

    /// Makes the directory or opens an existing one. A dry run only reports.
    Result<> enter(const DirNodeRef& dir_node);
    /// The same for a target directory that is open, such as the root.
    Result<> prepare(const DirNodeRef& dir_node, sys::Folder& target);
    void finish(const DirNodeRef& dir_node);
    /// Makes a finished directory writable again.
    Result<> chmod_again(const DirNodeRef& dir_node);

private:
    Result<> claim_folder(const DirNodeRef& dir_node);
    Result<FolderRef> make_folder(const DirNodeRef& dir_node, sys::Folder& above);
    Result<> enter_dry(const DirNodeRef& dir_node);
    Result<> check_is_meant(const DirNode& dir_node, sys::EntryKind kind) const;
    /// Gives new files in it the layout of the source's directory, if requested.
    void give_layout(const DirNodeRef& dir_node, sys::Folder& target);
    Result<> prepare_target(const DirNodeRef& dir_node, sys::Folder& folder);
    Result<std::set<std::string>> temporaries_in(sys::Folder& folder) const;
    Result<> sweep(const DirNodeRef& dir_node, sys::Folder& folder);
    Result<> find_leftovers(const DirNodeRef& dir_node, sys::Folder& folder);
    Result<> remove_leftovers(DirNode& dir_node, sys::Folder& target);
    /// Sets all attributes; would_finish() is for a dry run and reports attributes that the target cannot store.
    Result<> try_finish(const DirNodeRef& dir_node);
    Result<> would_finish(const DirNodeRef& dir_node);
    Result<> give_all(const DirNodeRef& dir_node, sys::Folder& target);
    /// True if it is the root and only one entry of the root is copied.
    bool is_of_others(const DirNode& dir_node) const { return use_.has_others && !dir_node.parent; }

    const Uses use_;
};

}  // namespace forebay::tree
