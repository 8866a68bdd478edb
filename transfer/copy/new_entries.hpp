// New entries of the target: their owner, as far as this process decides it, and the mark of an unfinished folder.

#pragma once

#include <atomic>

#include "core/sys/tree.hpp"
#include "transfer/copy/copied_entry.hpp"
#include "transfer/walk/filter.hpp"

namespace forebay::tree {

/// Nobody gives such permissions: who may write to a folder, and not go into it, may nothing.
inline constexpr std::uint32_t unfinished_folder = 01720;
/// Until they are marked so: what no umask takes away.
inline constexpr std::uint32_t unmarked_folder = 01700;
/// Of the folder above: its group is that of new entries.
inline constexpr std::uint32_t inherited_bit = 02000, sticky_bit = 01000;

class NewEntries {
public:
    explicit NewEntries(const EntryFilter& filter) : has_includes_(!filter.include.empty()) {}

    const sys::NewEntryOwner& owner() const { return owner_; }
    /// They are seen not to have this owner: a mount may give each that of its folder, or another.
    bool is_owner_unknown() const { return is_owner_unknown_; }
    /// A folder was just made, in one that has `above`.
    void look_at_new_folder(const sys::EntryStatus& status, const sys::EntryStatus& above) {
        const auto group = (above.permissions & inherited_bit) != 0 ? above.group : owner_.group;
        if (status.user != owner_.user || status.group != group) is_owner_unknown_ = true;
    }

    /// With patterns to include a folder shows that a copy has made it, until it has its attributes; not where the file
    /// system keeps no permissions.
    void mark_unfinished(sys::Folder& folder) const {
        if (!has_includes_) return;
        if (const auto now = folder.status())
            static_cast<void>(folder.set_permissions(unfinished_folder | (now->permissions & inherited_bit)));
    }
    bool is_unfinished(const sys::EntryStatus& folder) const { return has(folder, unfinished_folder); }
    /// It may have been made by a run that was killed before it was marked: if it is empty.
    bool may_be_unmarked(const sys::EntryStatus& folder) const { return has_includes_ && has(folder, unmarked_folder); }
    std::uint32_t folder_permissions() const { return has_includes_ ? unmarked_folder : while_filled; }
    /// With patterns to include, folders that were there and hold nothing that fits are none of this copy's.
    bool keeps_attributes(const DirNode& dir_node) const {
        const bool is_there = !dir_node.is_new && !dir_node.was_made && !dir_node.had_loss;
        return is_there && has_includes_ && !dir_node.holds_wanted;
    }
    bool has_marks() const { return has_includes_; }

private:
    bool has(const sys::EntryStatus& folder, std::uint32_t permissions) const {
        return (folder.permissions & ~inherited_bit) == permissions && folder.user == owner_.user;
    }

    const bool has_includes_;
    const sys::NewEntryOwner owner_ = sys::new_entry_owner();
    std::atomic<bool> is_owner_unknown_{false};
};

}  // namespace forebay::tree
