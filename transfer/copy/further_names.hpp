// Entries of an inode with several names. The first name is copied; further names become hard links of the copy. Names
// that come during the copy wait for it.
//
// Threads: any.

#pragma once

#include <functional>
#include <vector>

#include "transfer/copy/dry_copy.hpp"
#include "transfer/copy/ends.hpp"
#include "transfer/copy/link_names.hpp"
#include "transfer/copy/look_up.hpp"
#include "transfer/copy/losses.hpp"
#include "transfer/copy/naming.hpp"

namespace forebay::tree {

class FurtherNames {
public:
    /// `Place` copies an entry after its lookup, `Copy` before it.
    using Place = std::function<Result<CopyStep>(TreeWorker&, const CopyEntry&, FoundEntry&)>;
    using Copy = std::function<Result<CopyStep>(TreeWorker&, const CopyEntry&)>;

    struct Uses {
        const TreeCopyOptions& options;
        OpenFolders& folders;
        HardLinks& links;
        DeferredFolders& deferred;
        Losses& losses;
        Lookup& lookup;
        NameLinker& linker;
        DryCopier& dry;
        Naming& naming;
        Failures& failures;
        DirNodeEnds& dir_node_ends;
        const TemporaryNames& names;
    };
    explicit FurtherNames(const Uses& uses) : use_(uses) {}
    /// Call it before the work begins: these copy a first name, and a name that cannot be linked.
    void copy_by(Place place, Copy copy) {
        place_ = std::move(place);
        copy_ = std::move(copy);
    }

    /// The first thread takes the inode of an entry. Later threads leave their names to it and get `later`.
    Result<CopyStep> take_name(TreeWorker& worker, CopyEntry entry, FoundEntry& match);
    /// Gives the copy a further name. If the target cannot link there, the name becomes a file of its own.
    Result<CopyStep> link_name(TreeWorker& worker, const EntryPlace& place, const EntryPlace& first,
                               const sys::EntryId& id);
    /// The copy has its first name: names that waited are linked.
    void link_waiting(TreeWorker& worker, const sys::EntryId& id, const EntryPlace& first);
    /// The copy failed: names that waited are copied like first names.
    void give_up_waiting(TreeWorker& worker, const sys::EntryId& id);
    /// Links each place to `first`, or copies it like a first name.
    void link_all(TreeWorker& worker, const std::vector<EntryPlace>& places, const EntryPlace& first,
                  const sys::EntryId& id);
    void copy_waiting(TreeWorker& worker, const EntryPlace& waiting);

private:
    /// The entry with both directories; in a dry run without a target directory that would be made.
    Result<CopyEntry> entry_at(const EntryPlace& place);
    /// Checks if a directory is in the way of a further name of the inode `id`: it is deferred, or an error.
    Result<CopyStep> check_way(const EntryPlace& place, const std::optional<sys::EntryStatus>& existing,
                               const sys::EntryId& id, const EntryPlace& first);

    const Uses use_;
    Place place_;
    Copy copy_;
};

/// The error for a directory of the target that is in the way and stays.
Error folder_in_the_way();

}  // namespace forebay::tree
