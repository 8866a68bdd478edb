#include "archive/restorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "archive/stored.hpp"
#include "base/bytes.hpp"
#include "base/crc32c.hpp"
#include "base/show_text.hpp"
#include "base/siphash.hpp"
#include "base/try.hpp"
#include "tree/make_file.hpp"

namespace forebay::archive {

namespace {

constexpr std::size_t batch_members = 256;
// Windows of 512 KiB that wait while the archive is still read: few, so that their bytes are still in a cache.
constexpr std::size_t batches_max = 8;
constexpr std::size_t folders_together = 64;

}  // namespace

tree::AttributeSource attributes_of(const Member& member, const tree::Preserve& preserve) {
    tree::AttributeSource source;
    if (!preserve.attributes) return source;
    for (const auto& attribute : member.attributes) source.names.push_back(attribute.name);
    source.value = [&member](const std::string& name) -> Result<std::string> {
        return std::ranges::find(member.attributes, name, &MemberAttribute::name)->value;
    };
    return source;
}

Result<> settle_unread(tree::CopyContext& context, const Member& member) {
    if (!context.options.preserve.attributes) return {};
    for (const auto& part : member.unread)
        FB_TRY(context.settle(member.path, member.status, part, "",
                              Error{ErrorKind::unsupported, "it names users or groups that this machine has not"}));
    return {};
}

Error wrong_sum(const FoundMember& found, std::uint32_t sum) {
    return {ErrorKind::corrupt,
            fmt::format("its bytes at byte {} of the archive have the checksum {:08x}, not {:08x}: it is not restored",
                        found.stored_offset, sum, *found.member.sum)};
}

Restorer::Restorer(tree::CopyContext& given_context, sys::OpenFile& file, std::uint64_t file_bytes,
                   tree::BranchRef root, bool checks, const MemberTaker& take)
    : context(given_context),
      file_(file),
      file_bytes_(file_bytes),
      reader_(file, file_bytes, given_context.way()),
      root_(std::move(root)),
      checks_(checks),
      take_(take) {
    if (!root_) return;
    for (std::uint32_t index = 0; index < context.options.threads; ++index)
        target_folders_.emplace_back(context, root_, reader_);
}

Result<> Restorer::run() {
    FB_TRY(context.share.run([this](tree::TreeWorker& worker) { scan(worker); }));
    if (restores() && context.fatal()) FB_TRY(restore_later());
    if (restores() && context.fatal()) FB_TRY(restore_left_out());
    FB_TRY(context.fatal());
    return scanned_;
}

void Restorer::scan(tree::TreeWorker& worker) {
    scanned_ = try_scan(worker);
    hand_over(worker);
}

Result<> Restorer::try_scan(tree::TreeWorker& worker) {
    while (!context.share.is_stopped()) {
        FB_TRY_ASSIGN(found, reader_.next());
        if (!found) return {};
        FB_TRY(take(worker, std::move(*found)));
    }
    return {};
}

// An error: the reading ends.
Result<> Restorer::take(tree::TreeWorker& worker, FoundMember found) {
    auto& member = found.member;
    ++context.counts.entries;
    context.counts.passed_bytes += found.stored_offset - found.offset;
    if (!found.is_large()) context.counts.passed_bytes += round_up(member.stored_bytes, block_bytes);
    context.tick();
    const auto refuse = [&](const std::string& path, const Error& error) { context.report(show_text(path), error); };
    auto path = clean_path(member.path);
    if (!path) {
        refuse(member.path, path.error());
        return {};
    }
    member.path = std::move(*path);
    const auto kind = member.status.kind;
    const bool is_link = !member.same_as.empty();
    if (kind == sys::EntryKind::unknown && !is_link) {
        refuse(member.path, {ErrorKind::unsupported, "it is of a kind that this program does not know"});
        return {};
    }
    if (!context.options.filter.takes(member.path, kind)) {
        if (found.is_large()) context.counts.passed_bytes += member.stored_bytes;
        return {};
    }
    if (take_) FB_TRY(take_(member));
    if (context.options.is_dry) {
        context.counts.would_copy.add(kind == sys::EntryKind::file && !is_link ? member.status.bytes : 0);
        return {};
    }
    const Later later{
        .offset = found.offset,
        .common = found.common,
        .depth = member.path == "." ? 0 : 1 + static_cast<std::size_t>(std::ranges::count(member.path, '/'))};
    const bool is_known = restores() && !reader_.is_ours() && !known_.insert(siphash({}, bytes_of(member.path))).second;
    if (restores() && kind == sys::EntryKind::folder) {
        folders_.push_back(later);
        return {};
    }
    if (is_known || (restores() && is_link)) {  // it takes the place of what another thread may still be at
        later_.push_back(later);
        return {};
    }
    if (kind == sys::EntryKind::file && found.is_large()) {
        if (restores() || member.sum) start_large_restore(*this, worker, std::move(found));
        return {};
    }
    const bool is_next_window = !batch_.empty() && batch_.back().window != found.window;
    if (is_next_window || batch_.size() >= batch_members) hand_over(worker);
    if (restores() || (checks_ && member.sum)) batch_.push_back(std::move(found));
    return {};
}

void Restorer::hand_over(tree::TreeWorker& worker) {
    auto batch = std::exchange(batch_, {});
    if (context.share.waiting(worker) >= batches_max) return restore_batch(worker, batch);
    context.share.add(worker,
                      [this, members = std::move(batch)](tree::TreeWorker& other) { restore_batch(other, members); });
}

void Restorer::restore_batch(tree::TreeWorker& worker, const Batch& batch) {
    for (const auto& found : batch) {
        if (context.share.is_stopped()) return;
        if (auto restored = restore(worker, found); !restored) context.report(found.member.path, restored.error());
        context.tick();
    }
}

Result<> Restorer::restore(tree::TreeWorker& worker, const FoundMember& found) {
    const auto& member = found.member;
    if (member.status.kind == sys::EntryKind::file) return restore_file(worker, found);
    if (!restores()) return {};
    FB_TRY_ASSIGN(entry, entry_of(worker, member.path));
    FB_TRY(settle_unread(context, member));
    FB_TRY(tree::make_other_entry(
        context, worker, entry, member.status, member.link_text,
        [&]() -> Result<tree::AttributeSource> { return attributes_of(member, context.options.preserve); }));
    return {};
}

Result<> Restorer::restore_file(tree::TreeWorker& worker, const FoundMember& found) {
    const auto& member = found.member;
    if (member.sum)
        if (const auto sum = crc32c(found.stored); sum != *member.sum) return wrong_sum(found, sum);
    context.counts.bytes += member.stored_bytes;
    if (!restores()) return {};
    FB_TRY_ASSIGN(entry, entry_of(worker, member.path));
    FB_TRY(settle_unread(context, member));
    const auto temporary_name = context.temporary_name(entry.name);
    FB_TRY_ASSIGN(made, tree::make_copy_file(context, entry, temporary_name, member.status));
    tree::TemporaryName temporary(*entry.target, temporary_name);
    for (const auto& part : member.stored)
        FB_TRY(
            made.file->write(part.begin, found.stored.subspan(member.map_bytes + part.stored, part.end - part.begin)));
    if (member.has_holes) FB_TRY(made.file->resize(member.status.bytes));  // a hole may be the last
    FB_TRY(tree::name_file(context, worker, entry, attributes_of(member, context.options.preserve), member.status, made,
                           temporary));
    return {};
}

Result<> Restorer::link(tree::TreeWorker& worker, const Member& member, std::uint64_t offset) {
    FB_TRY_ASSIGN(first_path, clean_path(member.same_as));
    if (!context.options.filter.takes(first_path, sys::EntryKind::file)) {
        left_out_[first_path].push_back({member.path, offset});
        return {};
    }
    FB_TRY_ASSIGN(first, entry_of(worker, first_path));
    const auto first_folder = first.target;
    FB_TRY_ASSIGN(entry, entry_of(worker, member.path));
    FB_TRY_ASSIGN(status, first_folder->status_of(first.name));
    const auto existing = entry.target->status_of(entry.name);
    if (existing && existing->id == status.id) return {};  // a rename of two names of one inode does nothing
    const auto name = context.temporary_name(entry.name);
    static_cast<void>(entry.target->remove(name));  // of a run that was killed
    const auto linked = entry.target->make_hard_link(name, *first_folder, first.name);
    if (!linked) return context.settle(member.path, status, "hard link to " + first_path, "", linked);
    tree::TemporaryName temporary(*entry.target, name);
    FB_TRY(temporary.publish(entry.name));
    ++context.counts.linked;
    return {};
}

// Links, and entries that replace others of the archive: in its order, but for the pieces of large files.
Result<> Restorer::restore_later() {
    for (std::size_t next = 0; next < later_.size();) {
        FB_TRY(context.share.run([&](tree::TreeWorker& worker) {
            while (next < later_.size() && !context.share.is_stopped()) {
                auto found = reader_.read_at(later_[next].offset, later_[next].common);
                ++next;
                if (!found) return context.report(".", found.error());
                auto& member = found->member;
                member.path = clean_path(member.path).value();  // it was clean when it was put off
                if (member.status.kind == sys::EntryKind::file && found->is_large())
                    return start_large_restore(*this, worker, std::move(*found));
                const auto done =
                    member.same_as.empty() ? restore(worker, *found) : link(worker, member, found->offset);
                if (!done) context.report(member.path, done.error());
                context.tick();
            }
        }));
        FB_TRY(context.fatal());
    }
    return {};
}

// The archive has the bytes of an inode at its first name: where patterns leave this one out, the first of the others
// gets them. Where they are, another reading tells, which is cheaper than to remember all that was left out.
Result<> Restorer::restore_left_out() {
    if (left_out_.empty()) return {};
    ArchiveReader reader(file_, file_bytes_, context.way());
    Result<> read;
    FB_TRY(context.share.run([&](tree::TreeWorker& worker) {
        read = [&]() -> Result<> {
            while (!context.share.is_stopped()) {
                FB_TRY_ASSIGN(found, reader.next());
                if (!found) break;
                const auto path = clean_path(found->member.path);
                const auto wanted = path ? left_out_.find(*path) : left_out_.end();
                if (wanted == left_out_.end() || found->offset > wanted->second.front().offset) continue;
                found->member.path = wanted->second.front().path;
                if (found->is_large()) start_large_restore(*this, worker, std::move(*found));
                else if (auto done = restore(worker, *found); !done) context.report(found->member.path, done.error());
            }
            return {};
        }();
    }));
    FB_TRY(read);
    FB_TRY(context.fatal());
    return context.share.run([&](tree::TreeWorker& worker) {
        for (const auto& [first, names] : std::exchange(left_out_, {}))
            for (const auto& [path, offset] : std::span(names).subspan(1))
                if (auto done = link(worker, {.path = path, .same_as = names.front().path}, offset); !done)
                    context.report(path, done.error());
    });
}

// Folders that have no entry in the archive, which none of ours lacks.
Result<> Restorer::open_implied() {
    for (auto& folders : target_folders_)
        for (const auto& path : folders.take_made()) {
            if (known_.contains(siphash({}, bytes_of(path)))) continue;
            FB_TRY_ASSIGN(place, target_folders_.front().reach(path));
            FB_TRY(place.folder->set_permissions(0777u & ~context.owner.umask));
        }
    return {};
}

Result<> Restorer::finish_folders() {
    FB_TRY(open_implied());
    std::ranges::stable_sort(folders_, std::ranges::greater(), &Later::depth);
    // Where one comes again in an archive of ours, it is the same again; else the last one counts.
    const auto together = reader_.is_ours() ? folders_together : folders_.size();
    for (std::size_t begin = 0; begin < folders_.size();) {
        auto end = begin;
        while (end < folders_.size() && folders_[end].depth == folders_[begin].depth) ++end;
        FB_TRY(context.share.run([&](tree::TreeWorker& worker) {
            for (auto first = begin; first < end; first += together)
                context.share.add(worker, [&, first](tree::TreeWorker& other) {
                    for (auto at = first; at < std::min(first + together, end); ++at) {
                        if (context.share.is_stopped()) return;
                        auto member = member_at(folders_[at]);
                        const auto done = member ? finish_folder(other, *member) : Result<>(member.error());
                        if (!done) context.report(member ? member->path : ".", done.error());
                    }
                });
        }));
        FB_TRY(context.fatal());
        begin = end;
    }
    return {};
}

Result<Member> Restorer::member_at(const Later& later) {
    FB_TRY_ASSIGN(found, reader_.read_at(later.offset, later.common));
    FB_TRY_ASSIGN(path, clean_path(found.member.path));
    found.member.path = std::move(path);
    return std::move(found.member);
}

Result<> Restorer::finish_folder(tree::TreeWorker& worker, const Member& member) {
    FB_TRY_ASSIGN(place, target_folders_[worker.index].reach(member.path));
    FB_TRY(settle_unread(context, member));
    FB_TRY_ASSIGN(now, place.folder->status());
    tree::Held held{.user = now.user, .group = now.group, .permissions = now.permissions};
    held.umask = context.owner.umask;
    held.is_new = place.was_made;
    if (context.options.preserve.attributes) {
        FB_TRY_ASSIGN(names, place.folder->attribute_names());
        held.attributes = std::move(names);
        tree::drop_those_of_file_system(held.attributes);
    }
    ++context.counts.folders;
    const auto settle = [&](const std::string& part, const std::string& value, Result<> done) {
        return done ? done : context.settle(member.path, member.status, part, value, std::move(done));
    };
    return tree::give_attributes(member.status, attributes_of(member, context.options.preserve), *place.folder, held,
                                 context.options.preserve, settle);
}

}  // namespace forebay::archive
