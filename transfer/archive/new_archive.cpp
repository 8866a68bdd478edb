#include "transfer/archive/new_archive.hpp"

#include <fmt/format.h>

#include "core/base/bytes.hpp"
#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "transfer/walk/named_root.hpp"

namespace forebay::archive {

namespace {

// Closed to the group until it is complete: it may hold entries that its readers must not see.
constexpr std::uint32_t own_alone = 0600;

Error made_by_another(const std::string& name) {
    return {ErrorKind::refused, "another process is writing " + show_text(name), "nothing was changed", "wait for it"};
}

// Between making or opening the file and its lock, another process may have removed it and made its own file of that
// name.
Result<bool> is_alone(sys::Folder& folder, const std::string& temporary, sys::OpenFile& file) {
    FB_TRY_ASSIGN(is_locked, file.lock_alone());
    if (!is_locked) return false;
    FB_TRY_ASSIGN(status, file.status());
    const auto named = folder.status_of(temporary);
    return named && named->id == status.id;
}

// A file left by a killed run has no lock.
Result<std::unique_ptr<sys::OpenFile>> make_alone(sys::Folder& folder, const std::string& temporary,
                                                  const std::string& name) {
    auto old = folder.reopen_file(temporary);
    if (old) {
        FB_TRY_ASSIGN(is_left, is_alone(folder, temporary, **old));
        if (!is_left) return made_by_another(name);
        FB_TRY(folder.remove(temporary));
    }
    auto file = folder.make_file(temporary, own_alone);
    if (!file) return file;
    FB_TRY_ASSIGN(is_ours, is_alone(folder, temporary, **file));
    if (!is_ours) return made_by_another(name);
    return file;
}

}  // namespace

Result<std::unique_ptr<NewArchive>> NewArchive::make(const std::string& path, bool replaces) {
    FB_TRY_ASSIGN(named, tree::open_above(path));
    const auto temporary = fmt::format(".fb-{:016x}.tar", siphash({}, bytes_of(named.name)));
    FB_TRY_ASSIGN(file, make_alone(*named.above, temporary, named.name));
    std::unique_ptr<NewArchive> archive(new NewArchive(named.above, named.name, temporary));
    archive->file_ = std::move(file);
    archive->replaces_ = replaces;
    FB_TRY(archive->check_name());
    FB_TRY_ASSIGN(status, archive->file_->status());
    archive->id_ = status.id;
    const auto mark = encode_mark();
    FB_TRY(archive->write(archive->reserve(mark.size()), bytes_of(mark)));
    return archive;
}

Result<> NewArchive::check_name() {
    const auto existing = folder_->status_of(name_);
    if (!existing) return existing.error().kind == ErrorKind::missing ? Result<>() : Result<>(existing.error());
    replaced_ = *existing;
    if (replaces_ && existing->kind == sys::EntryKind::file) return {};
    if (existing->kind != sys::EntryKind::file)
        return Error{ErrorKind::refused, show_text(name_) + " exists and is not a file", "nothing was changed"};
    return Error{ErrorKind::refused, show_text(name_) + " exists already", "nothing was changed",
                 "choose another name, or replace the file with --force"};
}

// If a file may not grow, it counts as full: no other entry would fit either.
Result<> NewArchive::write(std::uint64_t offset, std::span<const std::byte> bytes) {
    auto written = file_->write(offset, bytes);
    if (written || written.error().kind != ErrorKind::refused) return written;
    return Error{ErrorKind::full, written.error().what, "",
                 "raise the limit (ulimit -f), or use a file system that holds larger files"};
}

void NewArchive::count(std::uint64_t place, std::uint32_t head_sum) {
    const std::lock_guard lock(mutex_);
    entries_.add(place, head_sum);
}

Result<> NewArchive::pass_over(std::uint64_t offset, std::uint64_t bytes, const Head& again) {
    for (auto& piece : encode_skipped(bytes, again.bytes)) {
        const auto begin = offset + piece.offset;
        if (piece.end.empty())  // the repeated entry
            count(begin, set_place(std::as_writable_bytes(std::span(piece.begin)), again.sums_at, begin));
        FB_TRY(write(begin, bytes_of(piece.begin)));
        FB_TRY(write(begin + piece.bytes - piece.end.size(), bytes_of(piece.end)));
    }
    return {};
}

Result<> NewArchive::end_with(Member member) {
    member.end = entries_;
    auto head = encode_head(member);
    const auto place = reserve(head.bytes.size());
    const auto bytes = std::as_writable_bytes(std::span(head.bytes));
    set_stored_sum(bytes, head.sums_at, 0);
    set_place(bytes, head.sums_at, place);
    return write(place, bytes);
}

Result<> NewArchive::complete(bool syncs) {
    FB_TRY(file_->resize(end_ + 2 * block_bytes));
    FB_TRY(set_permissions());
    return syncs ? file_->sync() : Result<>();
}

// The permissions of the replaced file, which its owner may have closed to others. If its group cannot be set, the
// group gets no more than other users have.
Result<> NewArchive::set_permissions() {
    if (!replaced_) return file_->set_permissions(0666u & ~sys::new_entry_owner().umask);
    auto permissions = replaced_->permissions & 0777u;
    const auto own = sys::new_entry_owner().user;
    if (!file_->set_owner(replaced_->user, replaced_->group) && !file_->set_owner(own, replaced_->group))
        permissions &= ~070u | (permissions & 07u) << 3;
    return file_->set_permissions(permissions);
}

Result<> NewArchive::publish(bool syncs) {
    // The name may have been taken since make().
    FB_TRY(check_name());
    FB_TRY(temporary_.publish(name_));
    return syncs ? folder_->sync_file_system() : Result<>();
}

}  // namespace forebay::archive
