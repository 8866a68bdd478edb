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
        Remarks& remarks;
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
    Result<> enter(const BranchRef& branch);
    /// The same of the target's folder of `branch` that is open, as the root is.
    Result<> prepare(const BranchRef& branch, sys::Folder& target);
    void finish(const BranchRef& branch);
    /// A folder that was finished can be filled again.
    Result<> lend_again(const BranchRef& branch);

private:
    Result<> claim_folder(const BranchRef& branch);
    Result<FolderRef> make_folder(const BranchRef& branch, sys::Folder& above);
    Result<> enter_dry(const BranchRef& branch);
    Result<> check_is_meant(const Branch& branch, sys::EntryKind kind) const;
    /// New files in it lie as those of the source's folder, where that is wished.
    void give_layout(const BranchRef& branch, sys::Folder& target);
    Result<> prepare_target(const BranchRef& branch, sys::Folder& folder);
    Result<std::set<std::string>> temporaries_in(sys::Folder& folder) const;
    Result<> sweep(const BranchRef& branch, sys::Folder& folder);
    Result<> find_leftovers(const BranchRef& branch, sys::Folder& folder);
    Result<> remove_leftovers(Branch& branch, sys::Folder& target);
    /// All that it is to have; in a dry run what the target could not keep of it.
    Result<> try_finish(const BranchRef& branch);
    Result<> would_finish(const BranchRef& branch);
    Result<> give_all(const BranchRef& branch, sys::Folder& target);
    /// Whether the root is nothing but where the one entry lies that is meant.
    bool is_of_others(const Branch& branch) const { return use_.has_others && !branch.parent; }

    const Uses use_;
};

}  // namespace forebay::tree
