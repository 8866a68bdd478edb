// Reads the state of an entry in the source and the target, as far as decide() asks. Writes nothing.
//
// Threads: any.

#pragma once

#include <memory>
#include <optional>

#include "transfer/copy/copied_entry.hpp"
#include "transfer/copy/copy_options.hpp"
#include "transfer/copy/decide.hpp"
#include "transfer/copy/deferred.hpp"
#include "transfer/copy/freshness.hpp"
#include "transfer/copy/new_entries.hpp"
#include "transfer/copy/step.hpp"
#include "transfer/copy/stored_layouts.hpp"
#include "transfer/copy/temporary_names.hpp"
#include "transfer/tables/hard_links.hpp"
#include "transfer/walk/work_share.hpp"

namespace forebay::tree {

/// The result of the lookup of a source entry.
struct FoundEntry {
    CopyStep step = CopyStep::done;  // `reported` if it is not copied
    EntrySight sight{};
    std::unique_ptr<sys::OpenFile> file{};  // if it is open already
    EntryPlace first{};                     // name of the copy, for a copied inode
    bool counts_bytes = true;               // false for a further name
};

class Lookup {
public:
    struct Uses {
        const TreeCopyOptions& options;
        EntryLog& entry_log;
        HardLinks& links;
        StoredLayouts& stored;
        const Freshness& freshness;
        const NewEntries& new_entries;
        const TemporaryNames& names;
        const DeferredFolders& deferred;
    };
    explicit Lookup(const Uses& uses) : use_(uses) {}

    /// `listed_number` is the inode number in the listing.
    Result<FoundEntry> look_up(const CopyEntry& entry, sys::EntryKind kind, std::uint64_t listed_number);
    /// Answers the questions of decide() until it decides.
    Result<EntryDecision> look_and_decide(TreeWorker& worker, const CopyEntry& entry, EntrySight& sight);
    DecideRules rules() const;
    /// Call it before `existing` in the target is replaced or kept: see CaseFoldNames::claim().
    Result<> claim_name(const CopyEntry& entry, const sys::EntryStatus& existing);
    /// True if a read would recall the bytes from an archive. The file is then skipped and reported.
    Result<bool> leaves(const CopyEntry& entry);

private:
    Result<bool> has_same_content(TreeWorker& worker, const CopyEntry& entry, const EntrySight& sight);
    Result<bool> has_same_bytes(TreeWorker& worker, const CopyEntry& entry, const EntrySight& sight);
    Result<std::string> attribute_difference(const CopyEntry& entry, const EntrySight& sight);
    void look_at_attributes(const CopyEntry& entry, EntrySight& sight);

    const Uses use_;
};

}  // namespace forebay::tree
