#include "transfer/migrate/frozen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "transfer/walk/walk.hpp"

namespace forebay::migrate {

namespace {

// Without ctime and number of names: the removal of another name of the inode changes both.
std::uint64_t digest_of_linked(const sys::EntryStatus& status) {
    const std::int64_t fields[] = {static_cast<std::int64_t>(status.kind),
                                   status.permissions,
                                   status.user,
                                   status.group,
                                   static_cast<std::int64_t>(status.bytes),
                                   status.modified.seconds,
                                   status.modified.nanoseconds};
    return siphash({}, std::as_bytes(std::span(fields)));
}

std::uint64_t digest_of(const std::string& path, const sys::EntryStatus& status) {
    const std::int64_t fields[] = {static_cast<std::int64_t>(status.kind),
                                   status.permissions,
                                   status.user,
                                   status.group,
                                   static_cast<std::int64_t>(status.names),
                                   static_cast<std::int64_t>(status.bytes),
                                   status.modified.seconds,
                                   status.modified.nanoseconds,
                                   status.changed.seconds,
                                   status.changed.nanoseconds};
    std::string message(reinterpret_cast<const char*>(fields), sizeof fields);
    message += path;
    return siphash({}, std::as_bytes(std::span(message)));
}

// Some file systems report varying sizes and link counts for directories. The ctime is enough.
sys::EntryStatus comparable(sys::EntryStatus status) {
    if (status.kind == sys::EntryKind::folder) status.bytes = status.names = 0;
    return status;
}

// Exactly 16 digits: a cut line would have another digest.
std::pair<const char*, std::errc> read_digest(const char* at, const char* end, std::uint64_t& digest) {
    constexpr std::ptrdiff_t digits = 16;
    const auto [stop, error] = std::from_chars(at, std::min(end, at + digits), digest, 16);
    return {stop, stop - at == digits ? error : std::errc::invalid_argument};
}

using LookAt = std::function<Result<>(const std::string& path, const sys::EntryStatus&)>;

Result<> look_at_all(const std::string& source, const FrozenWalk& walk, const LookAt& look) {
    FB_TRY_ASSIGN(root, sys::open_posix_folder(source));
    FB_TRY_ASSIGN(status, root->status());
    FB_TRY(look(".", status));
    tree::EntryLog entry_log;
    tree::WalkCounts counts;
    FB_TRY(tree::walk_tree(source,
                           {.threads = walk.threads,
                            .filter = walk.filter,
                            .one_file_system = walk.one_file_system,
                            .take = [&](std::span<const tree::WalkedEntry> entries) -> Result<> {
                                if (walk.go_on) FB_TRY(walk.go_on());
                                for (const auto& entry : entries) FB_TRY(look(entry.path, entry.status));
                                return {};
                            }},
                           entry_log, counts));
    if (!entry_log.has_errors()) return {};  // a mount is skipped by request
    const auto all = entry_log.first();
    const auto first =
        std::ranges::find_if(all, [](const tree::LogEntry& log_entry) { return tree::is_error(log_entry.kind); });
    return Error{ErrorKind::retry, fmt::format("some of {} cannot be read: {}", show_text(source),
                                               first == all.end() ? "" : show_text(first->path) + ": " + first->why)};
}

}  // namespace

Result<Frozen> frozen_now(const std::string& source, const FrozenWalk& walk, FrozenInodes* inodes,
                          std::string* newest_path) {
    Frozen frozen;
    FB_TRY(look_at_all(source, walk, [&](const std::string& path, const sys::EntryStatus& status) -> Result<> {
        ++frozen.entries;
        // Digests are added, so the order of the walk does not matter.
        frozen.digest += digest_of(path, comparable(status));
        if (newest_path != nullptr && status.changed >= frozen.newest_change) *newest_path = path;
        frozen.newest_change = std::max(frozen.newest_change, status.changed);
        if (inodes == nullptr) return {};
        if (status.kind == sys::EntryKind::folder) inodes->folders.push_back(status.id.number);
        else if (status.names > 1) inodes->linked.push_back({status.id.number, digest_of_linked(status)});
        return {};
    }));
    if (inodes != nullptr) {
        const auto sort = [](auto& numbers) {
            std::ranges::sort(numbers);
            numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        };
        sort(inodes->linked);
        sort(inodes->folders);
    }
    return frozen;
}

std::string text_of(const FrozenInodes& inodes) {
    std::string text;
    for (const auto& inode : inodes.linked) text += fmt::format("{} {:016x}\n", inode.number, inode.digest);
    for (const auto number : inodes.folders) text += fmt::format("{}/\n", number);
    return text;
}

Result<FrozenInodes> inodes_from(std::string_view text, const std::string& path) {
    FrozenInodes inodes;
    for (const char *at = text.data(), *end = at + text.size(); at < end;) {
        std::uint64_t number = 0, digest = 0;
        auto [stop, error] = std::from_chars(at, end, number);
        const bool is_folder = stop < end && *stop == '/';
        // changed_while_removed() searches by bisection. A line out of order is damage.
        bool follows = inodes.folders.empty() || number > inodes.folders.back();
        if (is_folder) {
            ++stop;
        } else {
            follows = inodes.folders.empty() && (inodes.linked.empty() || number > inodes.linked.back().number) &&
                      stop < end && *stop == ' ';
            if (follows) std::tie(stop, error) = read_digest(stop + 1, end, digest);
        }
        if (error != std::errc() || stop == end || *stop != '\n' || !follows)
            return Error{ErrorKind::corrupt,
                         fmt::format("{}: line {} has no number above the line before", path,
                                     inodes.linked.size() + inodes.folders.size() + 1),
                         "nothing more was removed",
                         "restore it from a backup, or compare the rest of the source with the target by hand"};
        if (is_folder) inodes.folders.push_back(number);
        else inodes.linked.push_back({number, digest});
        at = stop + 1;
    }
    return inodes;
}

Result<std::string> changed_while_removed(const std::string& source, const Frozen& frozen, const FrozenWalk& walk,
                                          const FrozenInodes& inodes) {
    std::string changed;
    FB_TRY(look_at_all(source, walk, [&](const std::string& path, const sys::EntryStatus& status) -> Result<> {
        // The removal itself changes a directory's times, so only new directories count.
        if (status.kind == sys::EntryKind::folder) {
            if (!std::ranges::binary_search(inodes.folders, status.id.number)) changed = path;
            return {};
        }
        const auto linked = std::ranges::lower_bound(inodes.linked, status.id.number, {}, &FrozenLinked::number);
        const bool is_linked = linked != inodes.linked.end() && linked->number == status.id.number;
        const bool is_same =
            is_linked ? linked->digest == digest_of_linked(status) : status.changed <= frozen.newest_change;
        if (!is_same) changed = path;
        return {};
    }));
    return changed;
}

}  // namespace forebay::migrate
