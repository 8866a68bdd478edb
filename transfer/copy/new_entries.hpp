// New target entries: their owner, and the mark of an unfinished directory.

#pragma once

#include <atomic>

#include "core/sys/tree.hpp"
#include "transfer/copy/copied_entry.hpp"
#include "transfer/walk/filter.hpp"

namespace forebay::tree {

/// A mode that nobody sets on purpose (write without execute). It marks a directory whose copy is unfinished.
inline constexpr std::uint32_t unfinished_folder = 01720;
/// The mode before the mark: no umask changes it.
inline constexpr std::uint32_t unmarked_folder = 01700;
/// For the parent directory: new entries inherit its group.
inline constexpr std::uint32_t inherited_bit = 02000, sticky_bit = 01000;

class NewEntries {
public:
    explicit NewEntries(const EntryFilter& filter) : has_includes_(!filter.include.empty()) {}

    const sys::NewEntryOwner& owner() const { return owner_; }
    /// True if new entries do not get this owner: a mount may give them the directory's owner, or another.
    bool is_owner_unknown() const { return is_owner_unknown_; }
    /// Checks the owner of a new directory. `above` is the status of its parent.
    void look_at_new_folder(const sys::EntryStatus& status, const sys::EntryStatus& above) {
        const auto group = (above.permissions & inherited_bit) != 0 ? above.group : owner_.group;
        if (status.user != owner_.user || status.group != group) is_owner_unknown_ = true;
    }

    /// With include patterns, marks a directory as made by a copy until it has its attributes. It fails on file systems
    /// without permissions.
    void mark_unfinished(sys::Folder& folder) const {
        if (!has_includes_) return;
        if (const auto now = folder.status())
            static_cast<void>(folder.set_permissions(unfinished_folder | (now->permissions & inherited_bit)));
    }
    bool is_unfinished(const sys::EntryStatus& folder) const { return has(folder, unfinished_folder); }
    /// An empty directory of this kind may come from a run killed before the mark.
    bool may_be_unmarked(const sys::EntryStatus& folder) const { return has_includes_ && has(folder, unmarked_folder); }
    std::uint32_t folder_permissions() const { return has_includes_ ? unmarked_folder : while_filled; }
    /// With include patterns, an existing directory without a matching entry keeps its attributes.
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
