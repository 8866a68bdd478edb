#include "transfer/copy/make_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "transfer/copy/large_file.hpp"

namespace forebay::tree {

namespace {

constexpr std::uint32_t setgid_bit = 02000;
constexpr std::uint32_t private_file = 0600;
constexpr std::chrono::milliseconds some_ticks{30};
constexpr int settling_looks_max = 10;

// Until its owner is set, the group of a new file is this process's: it sees what the permissions give to the group.
// Where others may do as much, it sees no more than afterwards.
std::uint32_t first_permissions(const CopyContext& context, const CopyEntry& entry, const sys::EntryStatus& status) {
    const auto wished = status.permissions;
    const bool is_plain = (wished & 07000u) == 0 && (wished >> 3 & 7u) == (wished & 7u);
    const bool would_stay = (wished & context.owner.umask) == 0 && !entry.branch->seen.gives_acl;
    return context.options.preserve.permissions && is_plain && would_stay ? wished : private_file;
}

Result<> verify(const CopyEntry& entry, sys::OpenFile& source, sys::OpenFile& made, const sys::EntryStatus& status,
                std::vector<std::byte>& buffer) {
    FB_TRY(made.sync());  // what is dirty cannot be forgotten
    made.forget_cached();
    FB_TRY_ASSIGN(at, first_difference(source, made, {0, status.bytes}, has_holes(status), buffer));
    if (at == status.bytes) return {};
    return Error{ErrorKind::corrupt,
                 fmt::format("{} differs from its source when it is read back, at byte {}", entry.path(), at)};
}

// Zero where it was changed long ago, or by a clock that is ahead of this one.
std::chrono::nanoseconds time_to_settle(sys::FileTime changed) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto since = std::chrono::seconds(changed.seconds) + std::chrono::nanoseconds(changed.nanoseconds);
    // File systems of whole seconds mark all changes of a second alike.
    const std::chrono::nanoseconds alike = changed.nanoseconds == 0 ? std::chrono::seconds(1) : some_ticks * 0;
    const auto rest = since + alike + some_ticks - now;
    return now < since ? rest.zero() : std::max(rest, rest.zero());
}

}  // namespace

const char* word_of(sys::EntryKind kind) {
    static constexpr std::array<const char*, 8> words{"it",   "file",   "folder",           "symbolic link",
                                                      "fifo", "socket", "character device", "block device"};
    return words[static_cast<std::size_t>(kind)];
}

Held held_by_new(CopyContext& context, const CopyEntry& entry) {
    const auto& folder = entry.branch->status(TreeSide::target);
    Held held{.user = context.owner.user, .group = context.owner.group, .permissions = private_file};
    if ((folder.permissions & setgid_bit) != 0) held.group = folder.group;
    if (context.owner.is_unknown) held.user = held.group = sys::same_user;
    if (entry.branch->seen.gives_acl) held.attributes = {access_acl};
    held.umask = context.owner.umask;
    held.is_new = true;
    return held;
}

Result<std::unique_ptr<sys::OpenFile>> make_laid_file(CopyContext& context, const CopyEntry& entry,
                                                      const std::string& temporary, std::uint32_t permissions,
                                                      const sys::EntryStatus& status) {
    const auto layout = context.layouts.layout_for(entry, status);
    if (layout && !*layout) return entry.target->make_file(temporary, permissions);
    auto given = layout ? Result<>() : Result<>(layout.error());
    if (layout) {
        auto file = entry.target->make_unlaid_file(temporary, permissions);
        if (!file) return file;
        given = context.layouts.give(**file, **layout);
        if (given) return file;
        FB_TRY(entry.target->remove(temporary));
    }
    const auto kind = given.error().kind;
    const bool is_refused = kind == ErrorKind::refused || kind == ErrorKind::unsupported;
    // What "auto" has chosen nobody has asked for. Without its layout a file lies as the directory says.
    if (!is_refused || context.options.layout.needs_layouts())
        FB_TRY(settle_of(context, entry, status)("layout", "", std::move(given)));
    return entry.target->make_file(temporary, permissions);
}

Result<MadeFile> make_copy_file(CopyContext& context, const CopyEntry& entry, const std::string& temporary,
                                const sys::EntryStatus& status) {
    auto held = held_by_new(context, entry);
    held.permissions = first_permissions(context, entry, status);
    auto file = make_laid_file(context, entry, temporary, held.permissions, status);
    if (!file && file.error().kind == ErrorKind::refused && !entry.branch->was_made) {
        if (!entry.target->remove(temporary)) return of_target(file.error());  // of a run that was killed
        file = make_laid_file(context, entry, temporary, held.permissions, status);
    }
    if (!file) return of_target(file.error());
    entry.branch->was_changed = true;
    return MadeFile{.file = std::move(*file), .held = std::move(held)};
}

Result<std::optional<sys::EntryStatus>> settled_status(sys::OpenFile& file, sys::EntryStatus status) {
    for (int looks = 0; looks < settling_looks_max; ++looks) {
        const auto rest = time_to_settle(status.changed);
        if (rest == rest.zero()) return std::optional(status);
        move::sleep_until(sys::Clock::now() + rest, nullptr);
        FB_TRY_ASSIGN(looked, file.status());
        status = looked;
    }
    return std::optional<sys::EntryStatus>();
}

bool is_unchanged(const sys::EntryStatus& before, const sys::EntryStatus& after) {
    return before.changed == after.changed && before.modified == after.modified && before.bytes == after.bytes;
}

Settle settle_of(CopyContext& context, const CopyEntry& entry, const sys::EntryStatus& status) {
    return [&](const std::string& part, const std::string& value, Result<> done) {
        if (done) return done;  // nearly always: no path is put together
        return context.settle(entry.path(), status, part, value, std::move(done));
    };
}

namespace {

Result<AttributeSource> attributes_from(CopyContext& context, sys::OpenFile& source) {
    if (!context.options.preserve.attributes) return AttributeSource{};
    return attributes_of(source);
}

Result<> give_all(CopyContext& context, const CopyEntry& entry, const AttributeSource& attributes,
                  const sys::EntryStatus& status, MadeFile& made) {
    return give_attributes(status, attributes, *made.file, made.held, context.options.preserve,
                           settle_of(context, entry, status));
}

// What another process of an earlier run has sent gets this one's name. One upload alone: the others are given up.
void take_over_upload(CopyContext& context, const CopyEntry& entry) {
    const auto& leftovers = entry.branch->leftovers;
    const auto own = parts_name(context.temporary_name(entry.name));
    if (std::ranges::find(leftovers, own) != leftovers.end()) return;
    for (const auto& name : context.others_temporaries(entry.name, leftovers))
        if (entry.target->rename(parts_name(name), own)) return;
}

}  // namespace

Result<std::uint64_t> begin_copy(CopyContext& context, const CopyEntry& entry, sys::OpenFile& source,
                                 const sys::EntryStatus& status, MadeFile& made) {
    if (!made.file->begins_with_attributes()) return std::uint64_t{0};
    FB_TRY_ASSIGN(attributes, attributes_from(context, source));
    FB_TRY(give_all(context, entry, attributes, status, made));
    made.has_attributes = true;
    take_over_upload(context, entry);
    return made.file->begin(entry.name, source, status);
}

Result<bool> complete_file(CopyContext& context, TreeWorker& worker, const CopyEntry& entry, sys::OpenFile& source,
                           const sys::EntryStatus& status, MadeFile& made, TemporaryName& temporary) {
    bool is_checked = true;
    if (!context.options.verifies) {
        FB_TRY_ASSIGN(checked, source.is_read_checked());
        is_checked = checked;
    }
    if (context.options.verifies || !is_checked) FB_TRY(verify(entry, source, *made.file, status, worker.buffer));
    if (made.has_attributes) return context.naming.name(worker, entry, status, temporary);
    FB_TRY_ASSIGN(attributes, attributes_from(context, source));
    return name_file(context, worker, entry, attributes, status, made, temporary);
}

Result<bool> name_file(CopyContext& context, TreeWorker& worker, const CopyEntry& entry,
                       const AttributeSource& attributes, const sys::EntryStatus& status, MadeFile& made,
                       TemporaryName& temporary) {
    FB_TRY(give_all(context, entry, attributes, status, made));
    return context.naming.name(worker, entry, status, temporary);
}

Result<> check_takes_files(const CopyEntry& entry, const std::string& temporary) {
    const auto made = entry.target->make_file(temporary, private_file);
    if (!made) return of_target(made.error());
    entry.branch->was_changed = true;
    return entry.target->remove(temporary);
}

Result<bool> make_other_entry(CopyContext& context, TreeWorker& worker, const CopyEntry& entry,
                              const sys::EntryStatus& status, const std::string& link_text,
                              const std::function<Result<AttributeSource>()>& attributes) {
    const auto temporary_name = context.temporary_name(entry.name);
    const auto make = [&] {
        if (status.kind != sys::EntryKind::link) return entry.target->make_special(temporary_name, status);
        return entry.target->make_link(temporary_name, link_text);
    };
    auto made = make();
    if (!made && made.error().kind == ErrorKind::refused && !entry.branch->was_made &&
        entry.target->remove(temporary_name))  // of a run that was killed
        made = make();
    if (!made) {  // as settled, the manifest has it whole
        if (made.error().kind == ErrorKind::refused) FB_TRY(check_takes_files(entry, temporary_name));
        FB_TRY(settle_of(context, entry, status)(word_of(status.kind), "", made));
        return true;
    }
    TemporaryName temporary(*entry.target, temporary_name);
    entry.branch->was_changed = true;
    FB_TRY_ASSIGN(opened, entry.target->open_entry(temporary_name));
    FB_TRY_ASSIGN(now, opened->status());
    // Somebody who may write here could have put another entry in its place: its owner is not given away.
    if (now.kind != status.kind || now.names != 1 || now.device_number != status.device_number ||
        (now.user != context.owner.user && !context.owner.is_unknown))
        return Error{ErrorKind::refused, "another entry took the place of the one that was being made"};
    auto held = held_by_new(context, entry);
    held.user = now.user;
    held.group = now.group;
    held.permissions = now.permissions;
    if (status.kind == sys::EntryKind::link) held.attributes.clear();  // it inherits no ACL
    FB_TRY_ASSIGN(given, attributes());
    FB_TRY(give_attributes(status, given, *opened, held, context.options.preserve, settle_of(context, entry, status)));
    return context.naming.name(worker, entry, status, temporary);
}

}  // namespace forebay::tree
