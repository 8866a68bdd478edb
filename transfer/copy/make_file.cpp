#include "transfer/copy/make_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/try.hpp"
#include "transfer/copy/copy_entry_log.hpp"

namespace forebay::tree {

namespace {

constexpr std::uint32_t private_file = 0600;

Result<> verify(const CopyEntry& entry, sys::OpenFile& source, sys::OpenFile& file, const sys::EntryStatus& status,
                std::vector<std::byte>& buffer) {
    FB_TRY(file.sync());  // dirty pages cannot be dropped from the cache
    file.forget_cached();
    FB_TRY_ASSIGN(at, first_difference(source, file, {0, status.bytes}, has_holes(status), buffer));
    if (at == status.bytes) return {};
    return Error{ErrorKind::corrupt,
                 fmt::format("{}, read back, differs from its source at byte {}", entry.path(), at)};
}

}  // namespace

const char* word_of(sys::EntryKind kind) {
    static constexpr std::array<const char*, 8> words{"it",   "file",   "folder",           "symbolic link",
                                                      "fifo", "socket", "character device", "block device"};
    return words[static_cast<std::size_t>(kind)];
}

Result<CopyStep> EntryMaker::make_copy(TreeWorker& worker, const CopyEntry& entry, const sys::EntryStatus& status,
                                       std::unique_ptr<sys::OpenFile> file) {
    if (file) return write_file(worker, entry, *file, status);
    if (status.kind == sys::EntryKind::file) {
        FB_TRY_ASSIGN(opened, entry.source->open_file(entry.name));
        FB_TRY_ASSIGN(looked, opened->status());
        const bool is_same =
            looked.kind == status.kind && looked.id == status.id && is_known(use_.links, entry, looked);
        return is_same ? write_file(worker, entry, *opened, looked) : report_changes(use_.entry_log, entry.path());
    }
    std::string text;
    if (status.kind == sys::EntryKind::link) {
        FB_TRY_ASSIGN(read, entry.source->link_text(entry.name));
        text = std::move(read);
    }
    return NewEntry(use_, entry, status).make_other(worker, text, [&] {
        return wished_attributes(*entry.source, entry.name, use_.options.preserve);
    });
}

Result<CopyStep> EntryMaker::adjust_copy(const CopyEntry& entry, const EntrySight& sight) {
    const auto& preserve = use_.options.preserve;
    FB_TRY_ASSIGN(opened, entry.target->open_entry(entry.name));
    FB_TRY_ASSIGN(now, opened->status());
    if (now.id != sight.existing->id)
        return Error{ErrorKind::retry, "the target's entry was replaced during the check"};
    Held held{.user = now.user, .group = now.group, .permissions = now.permissions};
    if (preserve.attributes) {
        FB_TRY_ASSIGN(names, opened->attribute_names());
        held.attributes = std::move(names);
        drop_those_of_file_system(held.attributes);
    }
    FB_TRY_ASSIGN(attributes, wished_attributes(*entry.source, entry.name, preserve));
    FB_TRY(
        give_attributes(sight.source, attributes, *opened, held, preserve, use_.losses.settle_of(entry, sight.source)));
    ++use_.counts.adjusted;
    use_.entry_log.add(EntryEvent::adjusted, entry.path(), difference_in(sight, preserve));
    return CopyStep::done;
}

Result<CopyStep> EntryMaker::write_file(TreeWorker& worker, const CopyEntry& entry, sys::OpenFile& file,
                                        sys::EntryStatus before) {
    for (int tries = 0; tries < copy_tries_max; ++tries) {
        // A write in progress may not have changed the ctime yet, so the file must be at rest first.
        FB_TRY_ASSIGN(settled, settled_status(file, before));
        if (!settled) break;
        before = *settled;
        NewEntry result(use_, entry, before);
        FB_TRY(result.make_file());
        TemporaryName temporary(*entry.target, result.name());
        FB_TRY(result.give_owner_first());
        FB_TRY(result.begin_copy(file));
        FB_TRY(copy_bytes(file, result.file(), {0, before.bytes}, result.is_sparse(), use_.flow.way(), worker.buffer));
        if (result.is_sparse()) FB_TRY(result.file().resize(before.bytes));  // it may end with a hole
        FB_TRY_ASSIGN(after, file.status());
        // Compared only after the last read: a change during the copy shows here.
        if (is_unchanged(before, after)) return result.complete_file(worker, file, temporary);
        before = after;
    }
    return report_changes(use_.entry_log, entry.path());
}

// Until its owner is set, a new file has the group of this process, with the group's permissions. If other users have
// the same permissions, the group gets nothing extra.
std::uint32_t NewEntry::first_permissions() const {
    const auto wished = status_.permissions;
    const bool is_plain = (wished & 07000u) == 0 && (wished >> 3 & 7u) == (wished & 7u);
    const bool would_stay = (wished & use_.new_entries.owner().umask) == 0 && !entry_.dir_node->seen.gives_acl;
    return use_.options.preserve.permissions && is_plain && would_stay ? wished : private_file;
}

Held NewEntry::held_by_new() const {
    const auto& owner = use_.new_entries.owner();
    const auto& folder = entry_.dir_node->status(TreeSide::target);
    Held held{.user = owner.user, .group = owner.group, .permissions = private_file};
    if ((folder.permissions & inherited_bit) != 0) held.group = folder.group;
    if (use_.new_entries.is_owner_unknown()) held.user = held.group = sys::same_user;
    if (entry_.dir_node->seen.gives_acl) held.attributes = {access_acl};
    held.umask = owner.umask;
    held.is_new = true;
    return held;
}

Result<std::unique_ptr<sys::OpenFile>> NewEntry::make_laid_file(std::uint32_t permissions) {
    const auto layout = use_.layouts.layout_for(entry_, status_);
    if (layout && !*layout) return entry_.target->make_file(name_, permissions);
    auto given = layout ? Result<>() : Result<>(layout.error());
    if (layout) {
        auto file = entry_.target->make_unlaid_file(name_, permissions);
        if (!file) return file;
        given = use_.layouts.give(**file, **layout);
        if (given) return file;
        FB_TRY(entry_.target->remove(name_));
    }
    const auto kind = given.error().kind;
    const bool is_refused = kind == ErrorKind::refused || kind == ErrorKind::unsupported;
    // The layout of "auto" was no request. Without it the file gets the directory's layout.
    if (!is_refused || use_.options.layout.needs_layouts()) FB_TRY(settle()("layout", "", std::move(given)));
    return entry_.target->make_file(name_, permissions);
}

Result<> NewEntry::make_file() {
    held_.permissions = first_permissions();
    auto file = make_laid_file(held_.permissions);
    if (!file && file.error().kind == ErrorKind::refused && !entry_.dir_node->was_made) {
        if (!entry_.target->remove(name_)) return of_target(file.error());  // of a killed run
        file = make_laid_file(held_.permissions);
    }
    if (!file) return of_target(file.error());
    entry_.dir_node->was_changed = true;
    file_ = std::move(*file);
    return {};
}

Result<> NewEntry::make_closed_file() {
    auto file = make_laid_file(private_file);
    if (!file) return of_target(file.error());
    entry_.dir_node->was_changed = true;
    file_ = std::move(*file);
    return {};
}

void NewEntry::take_file(std::unique_ptr<sys::OpenFile> file, const sys::EntryStatus& now) {
    file_ = std::move(file);
    held_.permissions = now.permissions;
    held_.user = now.user;
    held_.group = now.group;
}

// It will have this owner in the end, so no user gets access too early.
Result<> NewEntry::give_owner_first() {
    const auto wished = wished_owner(status_, held_, use_.options.preserve);
    if (!use_.losses.are_refused() || status_.bytes == 0 || !wished ||
        entry_.target->can_own(wished->user, wished->group))
        return {};
    FB_TRY(settle()(wished->part, "", file_->set_owner(wished->user, wished->group)));
    held_.user = wished->user;
    held_.group = wished->group;
    return {};
}

Result<AttributeSource> NewEntry::attributes_from(sys::OpenFile& source) const {
    if (!use_.options.preserve.attributes) return AttributeSource{};
    return attributes_of(source);
}

Result<> NewEntry::give_all(const AttributeSource& attributes) {
    return give_attributes(status_, attributes, *file_, held_, use_.options.preserve, settle());
}

// Takes over the upload of another process of an earlier run by a rename. Only one upload: the rest is dropped.
void NewEntry::take_over_upload() {
    const auto& leftovers = entry_.dir_node->leftovers;
    const auto own = parts_name(name_);
    if (std::ranges::find(leftovers, own) != leftovers.end()) return;
    for (const auto& name : use_.names.others_of(entry_.name, leftovers))
        if (entry_.target->rename(parts_name(name), own)) return;
}

Result<std::uint64_t> NewEntry::begin_copy(sys::OpenFile& source) {
    if (!file_->begins_with_attributes()) return std::uint64_t{0};
    FB_TRY_ASSIGN(attributes, attributes_from(source));
    FB_TRY(give_all(attributes));
    has_attributes_ = true;
    take_over_upload();
    return file_->begin(entry_.name, source, status_);
}

Result<CopyStep> NewEntry::complete_file(TreeWorker& worker, sys::OpenFile& source, TemporaryName& temporary) {
    bool is_checked = true;
    if (!use_.options.verifies) {
        FB_TRY_ASSIGN(checked, source.is_read_checked());
        is_checked = checked;
    }
    if (use_.options.verifies || !is_checked) FB_TRY(verify(entry_, source, *file_, status_, worker.buffer));
    if (has_attributes_) return use_.naming.name(worker, entry_, status_, temporary);
    FB_TRY_ASSIGN(attributes, attributes_from(source));
    return name_file(worker, attributes, temporary);
}

Result<CopyStep> NewEntry::name_file(TreeWorker& worker, const AttributeSource& attributes, TemporaryName& temporary) {
    FB_TRY(give_all(attributes));
    return use_.naming.name(worker, entry_, status_, temporary);
}

Result<> check_takes_files(const CopyEntry& entry, const std::string& temporary) {
    const auto file = entry.target->make_file(temporary, private_file);
    if (!file) return of_target(file.error());
    entry.dir_node->was_changed = true;
    return entry.target->remove(temporary);
}

Result<CopyStep> NewEntry::make_other(TreeWorker& worker, const std::string& link_text,
                                      const std::function<Result<AttributeSource>()>& attributes) {
    const auto make = [&] {
        if (status_.kind != sys::EntryKind::link) return entry_.target->make_special(name_, status_);
        return entry_.target->make_link(name_, link_text);
    };
    auto result = make();
    if (!result && result.error().kind == ErrorKind::refused && !entry_.dir_node->was_made &&
        entry_.target->remove(name_))  // of a killed run
        result = make();
    if (!result) {  // by the policy the manifest has it whole
        if (result.error().kind == ErrorKind::refused) FB_TRY(check_takes_files(entry_, name_));
        FB_TRY(settle()(word_of(status_.kind), "", result));
        return CopyStep::done;
    }
    TemporaryName temporary(*entry_.target, name_);
    entry_.dir_node->was_changed = true;
    FB_TRY_ASSIGN(opened, entry_.target->open_entry(name_));
    FB_TRY_ASSIGN(now, opened->status());
    // A user with write access here may have replaced the entry. That entry must not get the source's owner.
    if (now.kind != status_.kind || now.names != 1 || now.device_number != status_.device_number ||
        (now.user != use_.new_entries.owner().user && !use_.new_entries.is_owner_unknown()))
        return Error{ErrorKind::refused, "another entry replaced the new entry"};
    auto held = held_by_new();
    held.user = now.user;
    held.group = now.group;
    held.permissions = now.permissions;
    if (status_.kind == sys::EntryKind::link) held.attributes.clear();  // a symbolic link inherits no ACL
    FB_TRY_ASSIGN(given, attributes());
    FB_TRY(give_attributes(status_, given, *opened, held, use_.options.preserve, settle()));
    return use_.naming.name(worker, entry_, status_, temporary);
}

}  // namespace forebay::tree
