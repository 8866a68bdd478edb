#include "transfer/copy/link_names.hpp"

#include "core/base/try.hpp"

namespace forebay::tree {

Result<CopyStep> NameLinker::link_copy(const CopyEntry& entry, const EntryPlace& first) {
    FB_TRY_ASSIGN(first_folder, use_.folders.get(first.dir_node, TreeSide::target));
    // In a new directory nothing has the name yet, so no temporary name is needed.
    if (entry.dir_node->was_made) {
        FB_TRY(entry.target->make_hard_link(entry.name, *first_folder, first.name));
        FB_TRY(check_linked(entry, first, entry.name));
        use_.publisher.count({entry.dir_node, entry.name}, EntryEvent::linked, false);
        return CopyStep::done;
    }
    FB_TRY_ASSIGN(is_there, is_linked(entry, *first_folder, first.name));
    if (is_there) {
        ++use_.counts.equal;
        return CopyStep::done;
    }
    const auto name = use_.names.name_for(entry.name);
    static_cast<void>(entry.target->remove(name));
    FB_TRY(entry.target->make_hard_link(name, *first_folder, first.name));
    FB_TRY(check_linked(entry, first, name));
    TemporaryName temporary(*entry.target, name);
    return use_.publisher.publish(temporary, {entry.dir_node, entry.name}, *entry.target, EntryEvent::linked);
}

// A rename between two names of one inode does nothing and would leave the temporary name, so this case is found first.
Result<bool> NameLinker::is_linked(const CopyEntry& entry, sys::Folder& first_folder, const std::string& first_name) {
    const auto existing = entry.target->status_of(entry.name);
    if (!existing && existing.error().kind == ErrorKind::missing) return false;
    FB_TRY(existing);
    FB_TRY_ASSIGN(first_status, first_folder.status_of(first_name));
    if (existing->id != first_status.id) return false;
    FB_TRY(check_spelling(*entry.dir_node, *entry.target, entry.name));
    return true;
}

// A user who can write to the directory of the first name may have put an own file there. Root must not link that file
// into directories closed to that user.
Result<> NameLinker::check_linked(const CopyEntry& entry, const EntryPlace& first, const std::string& name) {
    constexpr std::uint32_t others_write = 022;
    const auto& folder = first.dir_node->status(TreeSide::source);
    const auto own_user = use_.new_entries.owner().user;
    if (use_.new_entries.is_owner_unknown()) return {};  // a mount sets the owners of new entries
    if (own_user != 0 || (folder.user == 0 && (folder.permissions & others_write) == 0)) return {};
    FB_TRY_ASSIGN(result, entry.target->status_of(name));
    FB_TRY_ASSIGN(status, entry.source->status_of(entry.name));
    const bool has_owner = result.user == status.user || result.user == own_user;
    if (has_owner && result.kind == status.kind && result.bytes == status.bytes) return {};
    FB_TRY(entry.target->remove(name));
    return Error{ErrorKind::refused, "another entry replaced its first name at the target"};
}

}  // namespace forebay::tree
