#include "transfer/archive/restorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "transfer/archive/stored.hpp"
#include "transfer/copy/make_file.hpp"

namespace forebay::archive {

namespace {

constexpr std::size_t batch_members = 256;
// Most windows of 512 KiB that wait while the archive is read: few, so that their bytes are still in a cache.
constexpr std::size_t batches_max = 8;
// Each thread holds each directory of its path.
constexpr std::uint32_t depth_max = 10'000;

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

Result<> settle_unread(tree::Losses& losses, const tree::Preserve& preserve, const Member& member) {
    const auto settle = [&](const Unread& part, bool is_wished, const char* why) -> Result<> {
        if (!is_wished) return {};
        return losses.settle(member.path, member.status, part.text, "", Error{ErrorKind::unsupported, why});
    };
    for (const auto& part : member.unread) switch (part.is) {
            case Unread::Is::owner: FB_TRY(settle(part, preserve.owner, "its owner is more than 32 bits")); break;
            case Unread::Is::permissions:
                FB_TRY(settle(part, preserve.permissions, "its permissions are not valid"));
                break;
            case Unread::Is::times:
                FB_TRY(settle(part, preserve.times, "its time is out of range on this machine"));
                break;
            case Unread::Is::attribute:
                FB_TRY(settle(part, preserve.attributes,
                              "it cannot be read here, or contains users or groups that this machine does not have"));
                break;
        }
    return {};
}

Error wrong_sum(const FoundMember& archived, std::uint32_t sum) {
    return {ErrorKind::corrupt,
            fmt::format("its bytes at byte {} of the archive have the checksum {:08x}, not {:08x}: it is not restored",
                        archived.stored_offset, sum, *archived.member.sum)};
}

Restorer::Restorer(tree::TargetParts& given_parts, sys::OpenFile& file, std::uint64_t file_bytes, tree::DirNodeRef root,
                   bool checks, const MemberTaker& take)
    : parts(given_parts),
      file_(file),
      file_bytes_(file_bytes),
      reader_(file, file_bytes, given_parts.flow.way()),
      root_(std::move(root)),
      checked_(checks ? std::optional<CheckedSums>(std::in_place) : std::nullopt),
      take_(take) {
    if (!root_) return;
    parts.failures.tell_failed([this](const std::string& path) { take_failed(path); });
    for (std::uint32_t index = 0; index < parts.options.threads; ++index)
        target_folders_.emplace_back(TargetFolders::Uses{parts.folders, parts.new_entries, parts.publisher}, root_,
                                     reader_);
}

Result<> Restorer::run() {
    FB_TRY(parts.naming.run([this](tree::TreeWorker& worker) { scan(worker); }));
    if (restores() && parts.failures.fatal()) FB_TRY(restore_later());
    FB_TRY(parts.failures.fatal());
    return scanned_;
}

void Restorer::scan(tree::TreeWorker& worker) {
    scanned_ = try_scan(worker);
    hand_over(worker);
}

Result<> Restorer::try_scan(tree::TreeWorker& worker) {
    while (!parts.share.is_stopped()) {
        FB_TRY_ASSIGN(next, reader_.next());
        if (!next) return {};
        FB_TRY(take(worker, std::move(*next)));
    }
    return {};
}

// An error ends the reading.
Result<> Restorer::take(tree::TreeWorker& worker, FoundMember archived) {
    auto& member = archived.member;
    parts.counts.passed_bytes += archived.stored_offset - archived.offset;
    if (!archived.is_large()) parts.counts.passed_bytes += round_up(member.stored_bytes, block_bytes);
    parts.flow.tick();
    const auto refuse = [&](const std::string& path, const Error& error) -> Result<> {
        parts.failures.report(show_text(path), error);
        return {};
    };
    auto path = clean_path(member.path);
    // The root is no entry in other counts either.
    const bool is_root = path && *path == ".";
    if (!is_root) ++parts.counts.entries;
    if (!path) return refuse(member.path, path.error());
    if (member.path.starts_with('/')) ++parts.counts.absolute_names;
    member.path = std::move(*path);
    const auto kind = member.status.kind;
    if (is_root && kind != sys::EntryKind::folder)
        return refuse(".",
                      {ErrorKind::refused, "it has the name of the root and is not a directory: it is not restored"});
    const bool is_link = !member.same_as.empty();
    const auto depth = is_root ? 0 : 1 + std::ranges::count(member.path, '/');
    if (depth > depth_max)
        return refuse(member.path.substr(0, 100) + "...",
                      {ErrorKind::unsupported,
                       fmt::format("its path has {} names, and a restore takes at most {}", depth, depth_max)});
    if (kind == sys::EntryKind::unknown && !is_link)
        return refuse(member.path, {ErrorKind::unsupported, "this program does not know its kind"});
    if (!parts.options.filter.takes(member.path, kind)) {
        if (archived.is_large()) parts.counts.passed_bytes += member.stored_bytes;
        return {};
    }
    if (take_) FB_TRY(take_(member));
    if (parts.options.is_dry) {
        if (is_root) return {};
        parts.counts.would_copy.add(kind == sys::EntryKind::file && !is_link ? member.status.bytes : 0);
        return {};
    }
    if (checked_ && kind == sys::EntryKind::file && !is_link && (member.sum || member.stored_bytes > 0)) {
        ++(member.sum ? checked_->files : checked_->files_without);
        (member.sum ? checked_->bytes : checked_->bytes_without) += member.stored_bytes;
    }
    bool comes_again = false;
    if (restores() && !reader_.is_ours()) {
        FB_TRY_ASSIGN(known, is_known(member.path));
        comes_again = known;
        FB_TRY(paths_.known.put(key_of(member.path), true));
    }
    const Later later{
        .offset = archived.offset, .common = number_of(archived.common), .depth = static_cast<std::uint32_t>(depth)};
    if (restores() && kind == sys::EntryKind::folder) {
        if (later.depth >= folders_.of_depth.size()) folders_.of_depth.resize(later.depth + 1);
        ++folders_.of_depth[later.depth];
        return folders_.all.push_back(later);
    }
    if (restores()) FB_TRY(note_wanted(member.path));
    // Another thread may still write the entry of this path or the first name, so this entry comes later.
    if (comes_again || (restores() && is_link)) return later_.push_back(later);
    if (kind == sys::EntryKind::file && archived.is_large()) {
        if (restores() || member.sum) start_large_restore(*this, worker, std::move(archived));
        return {};
    }
    const bool is_next_window = !batch_.empty() && batch_.back().window != archived.window;
    const bool waits = !archived.has_large_head();
    if (is_next_window || batch_.size() >= batch_members) hand_over(worker);
    if (restores() || (checked_ && member.sum)) batch_.push_back(std::move(archived));
    if (!waits) restore_batch(worker, std::exchange(batch_, {}));
    return {};
}

void Restorer::hand_over(tree::TreeWorker& worker) {
    auto batch = std::exchange(batch_, {});
    if (parts.share.waiting(worker) >= batches_max) return restore_batch(worker, batch);
    parts.share.add(worker,
                    [this, members = std::move(batch)](tree::TreeWorker& other) { restore_batch(other, members); });
}

void Restorer::restore_batch(tree::TreeWorker& worker, const Batch& batch) {
    for (const auto& archived : batch) {
        if (parts.share.is_stopped()) return;
        if (auto restored = restore(worker, archived); !restored)
            parts.failures.report(archived.member.path, restored.error());
        parts.flow.tick();
    }
}

Result<> Restorer::restore(tree::TreeWorker& worker, const FoundMember& archived) {
    const auto& member = archived.member;
    if (member.status.kind == sys::EntryKind::file) return restore_file(worker, archived);
    if (!restores()) return {};
    FB_TRY_ASSIGN(entry, entry_of(worker, member.path));
    FB_TRY(settle_unread(parts.losses, parts.options.preserve, member));
    bool was_made = false;
    FB_TRY(parts.maker.new_entry(entry, member.status)
               .make_other(worker, member.link_text, [&]() -> Result<tree::AttributeSource> {
                   was_made = true;
                   return attributes_of(member, parts.options.preserve);
               }));
    if (!was_made) take_failed(member.path);  // the target cannot store it, and the policy allows that
    return {};
}

Result<> Restorer::restore_file(tree::TreeWorker& worker, const FoundMember& archived) {
    const auto& member = archived.member;
    if (member.sum)
        if (const auto sum = crc32c(archived.stored); sum != *member.sum) return wrong_sum(archived, sum);
    parts.counts.bytes += member.stored_bytes;
    if (!restores()) return {};
    FB_TRY_ASSIGN(entry, entry_of(worker, member.path));
    FB_TRY(settle_unread(parts.losses, parts.options.preserve, member));
    auto result = parts.maker.new_entry(entry, member.status);
    FB_TRY(result.make_file());
    tree::TemporaryName temporary(*entry.target, result.name());
    for (const auto& part : member.stored)
        FB_TRY(result.file().write(part.begin,
                                   archived.stored.subspan(member.map_bytes + part.stored, part.end - part.begin)));
    if (member.has_holes) FB_TRY(result.file().resize(member.status.bytes));  // it may end with a hole
    FB_TRY(result.name_file(worker, attributes_of(member, parts.options.preserve), temporary));
    return {};
}

Result<> Restorer::link(tree::TreeWorker& worker, const Member& member) {
    FB_TRY_ASSIGN(first_path, clean_path(member.same_as));
    if (parts.options.filter.takes(first_path, sys::EntryKind::file)) return link_to(worker, member.path, first_path);
    return Error{ErrorKind::refused,
                 fmt::format("the archive stores its bytes at {}, which your patterns exclude", show_text(first_path))};
}

void Restorer::take_failed(const std::string& path) {
    const std::lock_guard lock(paths_.mutex);
    if (const auto put = paths_.failed.put(key_of(path), true); !put) parts.failures.end_by(put.error());
}

Result<> Restorer::forget_failed(const std::string& path) {
    const std::lock_guard lock(paths_.mutex);
    return paths_.failed.erase(key_of(path));
}

// The target may have an older file there. Further names must not link to it.
Result<> Restorer::check_first_name(const std::string& path) {
    const std::lock_guard lock(paths_.mutex);
    FB_TRY_ASSIGN(failed, paths_.failed.find(key_of(path)));
    if (failed)
        return Error{ErrorKind::refused,
                     fmt::format("it is a hard link to {}, which was not restored", show_text(path))};
    if (reader_.is_ours()) return {};
    FB_TRY_ASSIGN(known, is_known(path));
    if (known) return {};
    return Error{ErrorKind::refused,
                 fmt::format("it is a hard link to {}, which is not in the archive", show_text(path))};
}

Result<> Restorer::link_to(tree::TreeWorker& worker, const std::string& path, const std::string& first_path) {
    FB_TRY(check_first_name(first_path));
    FB_TRY_ASSIGN(first, entry_of(worker, first_path));
    const auto first_folder = first.target;
    FB_TRY_ASSIGN(entry, entry_of(worker, path));
    FB_TRY_ASSIGN(status, first_folder->status_of(first.name));
    const auto existing = entry.target->status_of(entry.name);
    if (existing && existing->id == status.id)  // a rename between two names of one inode does nothing
        return tree::check_spelling(*entry.dir_node, *entry.target, entry.name);
    const auto name = parts.names.name_for(entry.name);
    static_cast<void>(entry.target->remove(name));  // of a killed run
    const auto linked = entry.target->make_hard_link(name, *first_folder, first.name);
    if (!linked && linked.error().kind == ErrorKind::refused) FB_TRY(tree::check_takes_files(entry, name));
    if (!linked) return parts.losses.settle(path, status, "hard link to " + first_path, "", linked);
    tree::TemporaryName temporary(*entry.target, name);
    FB_TRY(parts.publisher.publish(temporary, {entry.dir_node, entry.name}, *entry.target, tree::EntryEvent::linked));
    return {};
}

// Restores links and repeated entries in the archive's order, except for pieces of large files.
Result<> Restorer::restore_later() {
    for (std::uint64_t next = 0; next < later_.size();) {
        Result<> restored;
        FB_TRY(parts.naming.run([&](tree::TreeWorker& worker) { restored = restore_some_later(worker, next); }));
        FB_TRY(restored);
        FB_TRY(parts.failures.fatal());
    }
    return {};
}

// Restores up to a large file. A link needs the name of its inode, which may wait for a sync. Of two entries of one
// path the first is named before the second is made.
Result<> Restorer::restore_some_later(tree::TreeWorker& worker, std::uint64_t& next) {
    std::unordered_set<std::string> waiting;
    for (; next < later_.size() && !parts.share.is_stopped(); parts.flow.tick()) {
        FB_TRY_ASSIGN(later, later_.at(next));
        ++next;
        auto archived = member_at(later);
        if (!archived) {
            parts.failures.report(".", archived.error());
            continue;
        }
        const auto& member = archived->member;
        const bool is_link = !member.same_as.empty();
        FB_TRY(forget_failed(member.path));  // another entry of its path comes
        if (!parts.naming.has_waiting()) waiting.clear();
        if (is_link || waiting.contains(member.path)) parts.naming.flush(worker);
        else waiting.insert(member.path);
        if (member.status.kind == sys::EntryKind::file && archived->is_large()) {
            start_large_restore(*this, worker, std::move(*archived));
            return {};
        }
        const auto done = is_link ? link(worker, member) : restore(worker, *archived);
        if (!done) parts.failures.report(member.path, done.error());
    }
    return {};
}

Result<FoundMember> Restorer::member_at(const Later& later) {
    FB_TRY_ASSIGN(archived, reader_.read_at(later.offset, commons_[later.common]));
    FB_TRY_ASSIGN(path, clean_path(archived.member.path));
    archived.member.path = std::move(path);
    return archived;
}

std::uint32_t Restorer::number_of(const std::shared_ptr<const Records>& common) {
    if (commons_.empty() || commons_.back() != common) commons_.push_back(common);
    return static_cast<std::uint32_t>(commons_.size() - 1);
}

sys::EntryId Restorer::key_of(const std::string& path) { return {0, siphash({}, bytes_of(path))}; }

Result<bool> Restorer::is_known(const std::string& path) {
    FB_TRY_ASSIGN(known, paths_.known.find(key_of(path)));
    return known.has_value();
}

}  // namespace forebay::archive
