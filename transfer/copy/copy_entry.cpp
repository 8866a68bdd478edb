#include "transfer/copy/copy_entry.hpp"

#include <utility>

#include "core/base/try.hpp"
#include "transfer/copy/foresee.hpp"
#include "transfer/copy/large_file.hpp"
#include "transfer/copy/make_file.hpp"

namespace forebay::tree {

namespace {

std::uint64_t file_bytes(const sys::EntryStatus& status) {
    return status.kind == sys::EntryKind::file ? status.bytes : 0;
}

}  // namespace

Error report_changes(CopyContext& context, const std::string& path) {
    context.remarks.add(
        RemarkKind::changed, path,
        "it changed each time that it was copied, and was left out: an older copy at the target, if there is "
        "one, stays");
    return {ErrorKind::retry, ""};
}

bool is_known(const CopyContext& context, const CopyEntry& entry, const sys::EntryStatus& status) {
    return entry.inode == sys::EntryId{} || context.links.id_of(status) == entry.inode;
}

Result<> claim_name(CopyContext& context, const CopyEntry& entry, const sys::EntryStatus& existing) {
    auto* spellings = Spellings::of(*entry.branch, *entry.target);
    if (spellings == nullptr) return {};
    FB_TRY_ASSIGN(would_rename, spellings->claim(*entry.target, *entry.source, entry.name, existing,
                                                 context.temporary_name(entry.name), context.options.is_dry));
    if (would_rename)
        context.remarks.add(RemarkKind::would_adjust, entry.path(), "the target has it in another spelling");
    return {};
}

Result<> TemporaryName::publish(const std::string& final_name, Spellings* spellings) {
    const auto renamed =
        spellings != nullptr ? spellings->rename(*folder_, name_, final_name) : folder_->rename(name_, final_name);
    if (!renamed) return of_target(renamed.error());
    name_.clear();
    return {};
}

Result<> EntryCopier::copy(const CopyEntry& entry, sys::EntryKind kind, std::uint64_t listed_number) {
    std::optional<sys::EntryStatus> existing;
    if (!entry.branch->was_made && entry.target) {
        auto looked = entry.target->status_of(entry.name);
        if (looked) existing = *looked;
        else if (looked.error().kind != ErrorKind::missing) return looked.error();
    }
    if (existing) FB_TRY(claim_name(context_, entry, *existing));
    std::unique_ptr<sys::OpenFile> file;
    // A file is opened at once and looked at by its descriptor: a call less, and nobody can swap it in between.
    if (kind == sys::EntryKind::file && !existing && !context_.options.is_dry && !context_.links.knows(listed_number)) {
        FB_TRY(context_.check_present(*entry.branch, *entry.source, entry.name));
        FB_TRY_ASSIGN(opened, entry.source->open_file(entry.name));
        file = std::move(opened);
    }
    FB_TRY_ASSIGN(status, file ? file->status() : entry.source->status_of(entry.name));
    if (status.kind == sys::EntryKind::folder || (file && status.kind != sys::EntryKind::file))
        return report_changes(context_, entry.path());

    const bool has_names = status.names > 1 && context_.options.preserve.hard_links;
    const EntryPlace own{entry.branch, entry.name};
    auto known = entry;
    if (has_names) {
        known.inode = context_.links.id_of(status);
        EntryPlace first;
        ++entry.branch->pending;  // of an entry that waits; whoever links it gives that back
        const auto old = existing && existing->names > 1 ? existing->id : sys::EntryId{};
        const auto turn = context_.links.take(status, old, own, first);
        if (turn && *turn == HardLinks::Turn::waits) {
            // Nothing but further names may come for long, so that no batch with their first one becomes full.
            if (context_.links.waiting() % waiting_names_max == 0) context_.naming.flush(worker_);
            return {};
        }
        --entry.branch->pending;  // never the last: this portion of names holds the branch
        FB_TRY(turn);
        if (*turn == HardLinks::Turn::ready) return link(own, first, known.inode);
    }
    const auto placed = place(known, status, std::move(file), existing);
    const bool comes_in_pieces = placed && !*placed && status.bytes >= large_file_bytes;
    if (!comes_in_pieces) context_.counts.passed_bytes += file_bytes(status);
    if (has_names && !placed) give_up_waiting(known.inode);
    if (has_names && placed && *placed) link_waiting(known.inode, own);
    return placed ? Result<>() : Result<>(placed.error());
}

Result<bool> EntryCopier::place(const CopyEntry& entry, const sys::EntryStatus& status,
                                std::unique_ptr<sys::OpenFile> file, const std::optional<sys::EntryStatus>& existing) {
    FB_TRY(check_way({entry.branch, entry.name}, existing));
    context_.tell_flags(*entry.branch, entry.name, status);
    if (existing) {
        FB_TRY_ASSIGN(is_kept, keep_existing(entry, status, *existing));
        if (is_kept) return true;
    }
    if (status.kind == sys::EntryKind::file && !file)
        FB_TRY(context_.check_present(*entry.branch, *entry.source, entry.name));
    if (context_.options.is_dry) {
        FB_TRY(would_place(entry, status, existing));
        return true;
    }
    if (status.kind != sys::EntryKind::file) return make_other(entry, status);
    if (status.bytes >= large_file_bytes) {
        ++entry.branch->pending;
        start_large_file(context_, worker_, {entry.branch, entry.name}, entry.inode);
        return false;
    }
    auto before = status;
    if (!file) {
        FB_TRY_ASSIGN(opened, entry.source->open_file(entry.name));
        file = std::move(opened);
        FB_TRY_ASSIGN(looked, file->status());
        if (looked.kind != sys::EntryKind::file || looked.id != status.id || !is_known(context_, entry, looked))
            return report_changes(context_, entry.path());
        before = looked;
    }
    return copy_file(entry, *file, before);
}

Result<> EntryCopier::check_way(const EntryPlace& place, const std::optional<sys::EntryStatus>& existing) {
    if (!existing || existing->kind != sys::EntryKind::folder || context_.counts_as_gone()) return {};
    if (!context_.options.removes_extra)
        return Error{ErrorKind::refused, "a folder stands there at the target: sync --delete replaces it"};
    context_.put_off(place);
    return Error{ErrorKind::retry, ""};
}

Result<> EntryCopier::check_way_of_link(const EntryPlace& place, const std::optional<sys::EntryStatus>& existing,
                                        const sys::EntryId& id, const EntryPlace& first) {
    auto clear = check_way(place, existing);
    if (!clear && context_.options.removes_extra) context_.links.asks_again(id, first);
    return clear;
}

Result<> EntryCopier::would_place(const CopyEntry& entry, const sys::EntryStatus& status,
                                  const std::optional<sys::EntryStatus>& existing) {
    if (auto* target = context_.target_of(entry); target != nullptr) {
        if (const auto can = target->can_make(status.kind); !can) {
            FB_TRY(settle_of(context_, entry, status)(word_of(status.kind), "", can));
            return {};  // as settled, nothing of it would be there
        }
        FB_TRY_ASSIGN(attributes, source_attributes(entry));
        FB_TRY(foresee(context_, entry.path(), *target, status, held_by_new(context_, entry), attributes));
    }
    auto& amount = existing ? context_.counts.would_replace : context_.counts.would_copy;
    amount.add(file_bytes(status));
    context_.remarks.add(RemarkKind::would_copy, entry.path(), existing ? "it differs" : "it is not at the target");
    return {};
}

Result<bool> EntryCopier::copy_file(const CopyEntry& entry, sys::OpenFile& file, sys::EntryStatus before) {
    const auto temporary_name = context_.temporary_name(entry.name);
    for (int tries = 0; tries < copy_tries_max; ++tries) {
        FB_TRY_ASSIGN(settled, settled_status(file, before));
        if (!settled) break;
        before = *settled;
        FB_TRY_ASSIGN(made, make_copy_file(context_, entry, temporary_name, before));
        TemporaryName temporary(*entry.target, temporary_name);
        FB_TRY(give_owner_first(context_, entry, before, made));
        FB_TRY(begin_copy(context_, entry, file, before, made));
        const bool sparse = has_holes(before) && !made.has_attributes;
        FB_TRY(copy_bytes(file, *made.file, {0, before.bytes}, sparse, context_.way(), worker_.buffer));
        if (sparse) FB_TRY(made.file->resize(before.bytes));  // a hole may be the last
        FB_TRY_ASSIGN(after, file.status());
        if (is_unchanged(before, after)) return complete_file(context_, worker_, entry, file, before, made, temporary);
        before = after;
    }
    return report_changes(context_, entry.path());
}

Result<AttributeSource> EntryCopier::source_attributes(const CopyEntry& entry) {
    if (!context_.options.preserve.attributes) return AttributeSource{};
    return attributes_of(*entry.source, entry.name);
}

Result<bool> EntryCopier::make_other(const CopyEntry& entry, const sys::EntryStatus& status) {
    std::string text;
    if (status.kind == sys::EntryKind::link) {
        FB_TRY_ASSIGN(read, entry.source->link_text(entry.name));
        text = std::move(read);
    }
    return make_other_entry(context_, worker_, entry, status, text, [&] { return source_attributes(entry); });
}

void EntryCopier::link_waiting(const sys::EntryId& id, const EntryPlace& first) {
    link_all(context_.links.published(id, first), first, id);
}

void EntryCopier::link_all(const std::vector<EntryPlace>& places, const EntryPlace& first, const sys::EntryId& id) {
    for (const auto& waiting : places) {
        if (auto linked = link(waiting, first, id); !linked)
            context_.report(waiting.branch, waiting.name, linked.error());
        context_.done_in(waiting.branch);
    }
}

void EntryCopier::give_up_waiting(const sys::EntryId& id) {
    for (auto& waiting : context_.links.failed(id))
        context_.share.add(worker_, [&context = context_, waiting](TreeWorker& worker) {
            EntryCopier(context, worker).copy_waiting(waiting);
        });
}

void EntryCopier::copy_waiting(const EntryPlace& waiting) {
    auto copied = [&]() -> Result<> {
        FB_TRY_ASSIGN(source, context_.folders.get(waiting.branch, TreeSide::source));
        FB_TRY_ASSIGN(target, context_.target_folder(waiting.branch));
        return copy({waiting.branch, source, target, waiting.name}, sys::EntryKind::unknown, 0);
    }();
    if (!copied) context_.report(waiting.branch, waiting.name, copied.error());
    context_.done_in(waiting.branch);
}

Result<> EntryCopier::link(const EntryPlace& place, const EntryPlace& first, const sys::EntryId& id) {
    if (context_.options.is_dry) return would_link(place, first, id);
    FB_TRY_ASSIGN(source, context_.folders.get(place.branch, TreeSide::source));
    FB_TRY_ASSIGN(target, context_.folders.get(place.branch, TreeSide::target));
    const CopyEntry entry{place.branch, source, target, place.name};
    auto linked = link_to(entry, first);
    if (linked) return linked;
    FB_TRY(check_spelling(*place.branch, *target, place.name));
    FB_TRY_ASSIGN(status, source->status_of(place.name));
    std::optional<sys::EntryStatus> existing;
    if (const auto looked = target->status_of(place.name)) existing = *looked;
    FB_TRY(check_way_of_link(place, existing, id, first));
    if (linked.error().kind == ErrorKind::refused)
        FB_TRY(check_takes_files(entry, context_.temporary_name(place.name)));
    FB_TRY(settle_of(context_, entry, status)("hard link to " + path_of(*first.branch, first.name), "", linked));
    // As wished, it becomes a file of its own.
    const auto placed = this->place(entry, status, nullptr, existing);
    return placed ? Result<>() : Result<>(placed.error());
}

Result<> EntryCopier::would_link(const EntryPlace& place, const EntryPlace& first, const sys::EntryId& id) {
    FB_TRY_ASSIGN(source, context_.folders.get(place.branch, TreeSide::source));
    FB_TRY_ASSIGN(target, context_.target_folder(place.branch));
    FB_TRY_ASSIGN(first_folder, context_.target_folder(first.branch));
    const CopyEntry entry{place.branch, source, target, place.name};
    FB_TRY_ASSIGN(status, source->status_of(place.name));
    std::optional<sys::EntryStatus> existing;
    if (target)
        if (const auto looked = target->status_of(place.name)) existing = *looked;
    FB_TRY(check_way_of_link(place, existing, id, first));
    const auto can = context_.target_of(entry) != nullptr ? context_.target_of(entry)->can_link() : Result<>();
    if (!can) {
        FB_TRY(settle_of(context_, entry, status)("hard link to " + path_of(*first.branch, first.name), "", can));
        return would_place(entry, status, existing);  // as wished, it becomes a file of its own
    }
    const auto is_name_of_first = [&] {
        const auto old = first_folder->status_of(first.name);
        return old && old->id == existing->id;
    };
    if (existing && first_folder && is_name_of_first()) {
        FB_TRY_ASSIGN(is_kept, keep_existing(entry, status, *existing, true));
        if (is_kept) return {};
    }
    (existing ? context_.counts.would_replace : context_.counts.would_copy).add(0);
    context_.remarks.add(RemarkKind::would_copy, entry.path(),
                         "it becomes a further name of " + path_of(*first.branch, first.name));
    return {};
}

// Who owns the folder of the first name, or may write to it, could have put a file of his own there since: root would
// carry it into folders that are closed to him.
Result<> EntryCopier::check_linked(const CopyEntry& entry, const EntryPlace& first, const std::string& name) {
    constexpr std::uint32_t others_write = 022;
    const auto& folder = first.branch->status(TreeSide::source);
    if (context_.owner.is_unknown) return {};  // a mount that gives others their owners
    if (context_.owner.user != 0 || (folder.user == 0 && (folder.permissions & others_write) == 0)) return {};
    FB_TRY_ASSIGN(made, entry.target->status_of(name));
    FB_TRY_ASSIGN(status, entry.source->status_of(entry.name));
    const bool has_owner = made.user == status.user || made.user == context_.owner.user;
    if (has_owner && made.kind == status.kind && made.bytes == status.bytes) return {};
    FB_TRY(entry.target->remove(name));
    return Error{ErrorKind::refused, "another entry took the place of its first name at the target"};
}

Result<> EntryCopier::link_to(const CopyEntry& entry, const EntryPlace& first) {
    const auto& first_name = first.name;
    FB_TRY_ASSIGN(opened, context_.folders.get(first.branch, TreeSide::target));
    auto& first_folder = *opened;
    if (entry.branch->was_made) {
        FB_TRY(entry.target->make_hard_link(entry.name, first_folder, first_name));
        FB_TRY(check_linked(entry, first, entry.name));
    } else {
        const auto existing = entry.target->status_of(entry.name);
        if (!existing && existing.error().kind != ErrorKind::missing) return existing.error();
        if (existing) {
            FB_TRY_ASSIGN(first_status, first_folder.status_of(first_name));
            if (existing->id == first_status.id) {  // a rename of two names of one inode does nothing
                FB_TRY(check_spelling(*entry.branch, *entry.target, entry.name));
                ++context_.counts.equal;
                return {};
            }
        }
        const auto name = context_.temporary_name(entry.name);
        static_cast<void>(entry.target->remove(name));
        FB_TRY(entry.target->make_hard_link(name, first_folder, first_name));
        FB_TRY(check_linked(entry, first, name));
        TemporaryName temporary(*entry.target, name);
        return context_.publish(temporary, {entry.branch, entry.name}, *entry.target, RemarkKind::linked);
    }
    context_.count({entry.branch, entry.name}, RemarkKind::linked, false);
    return {};
}

}  // namespace forebay::tree
