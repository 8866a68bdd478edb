// Goes down the source and makes each folder of it at the target: closed to others while it is filled, given its
// attributes when all below it is there.

#pragma once

#include "transfer/copy/copy_context.hpp"
#include "transfer/copy/portion.hpp"

namespace forebay::tree {

class CopyWalk {
public:
    explicit CopyWalk(CopyContext& context) : context_(context) {
        context_.finish_branch = [this](const BranchRef& branch) { finish(branch); };
    }

    /// Of both roots, which are open; in a dry run that of the target may be missing. Of a team the first process alone
    /// prepares it.
    Result<BranchRef> open_root(FolderRef source, const FolderRef& target, bool was_made, bool is_first);
    /// Copies all that is in the root; a member of a team copies what it is given.
    Result<> run(const BranchRef& root, bool is_first);
    /// A folder that was listed, with all in it.
    void enter(TreeWorker& worker, const BranchRef& branch);
    void copy_portion(TreeWorker& worker, const BranchRef& branch, const Portion& portion);
    /// Removes the folders of the target that stand where the source has other entries, and copies these; after errors
    /// it says that they stay.
    Result<> replace_folders();

private:
    Result<> try_enter(TreeWorker& worker, const BranchRef& branch);
    Result<> list(TreeWorker& worker, const BranchRef& branch);
    Result<> copy_named(TreeWorker& worker, CopyEntry& entry, const ListedName& named);
    /// Of a name that is no folder: names what a list has below it. False: the list has not the name itself.
    Result<bool> tell_wished_below(const Branch& branch, const std::string& name, sys::EntryKind kind);

    Result<> enter_target(const BranchRef& branch);
    Result<> claim_folder(const BranchRef& branch);
    Result<FolderRef> make_folder(const BranchRef& branch, sys::Folder& above);
    Result<> enter_dry(const BranchRef& branch);
    /// New files in it lie as those of the source's folder, where that is wished.
    void give_layout(const BranchRef& branch, sys::Folder& target);
    Result<> prepare_target(const BranchRef& branch, sys::Folder& folder);
    Result<> sweep(const BranchRef& branch, sys::Folder& folder);
    Result<> find_leftovers(const BranchRef& branch, sys::Folder& folder);

    Result<> check_replaceable(const EntryPlace& place);
    Result<> lend_again(const BranchRef& branch);

    void finish(const BranchRef& branch);
    Result<> try_finish(const BranchRef& branch);
    /// The same in a dry run.
    Result<> would_finish(const BranchRef& branch);

    CopyContext& context_;
    sys::EntryId target_root_;
    std::uint64_t device_ = 0;  // of the source's root
};

}  // namespace forebay::tree
