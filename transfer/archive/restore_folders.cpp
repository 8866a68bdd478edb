// Sets the attributes of a restore's directories when all else is done.

#include <algorithm>

#include "core/base/try.hpp"
#include "transfer/archive/restorer.hpp"

namespace forebay::archive {

namespace {

constexpr std::size_t folders_together = 64;

}  // namespace

Result<> Restorer::note_wanted(std::string_view path) {
    if (parts.options.filter.include.empty()) return {};
    const std::lock_guard lock(paths_.mutex);
    while (!path.empty()) {
        path = path.substr(0, path.find('/') == path.npos ? 0 : path.rfind('/'));
        const auto key = key_of(std::string(path.empty() ? "." : path));
        FB_TRY_ASSIGN(known, paths_.wanted.find(key));
        if (known) return {};
        FB_TRY(paths_.wanted.put(key, true));
    }
    return {};
}

Result<bool> Restorer::is_wanted(const std::string& folder) {
    if (parts.options.filter.include.empty()) return true;
    const std::lock_guard lock(paths_.mutex);
    FB_TRY_ASSIGN(known, paths_.wanted.find(key_of(folder)));
    return known.has_value();
}

// The mode of mkdir, as tar gives it, with the inherited setgid bit.
Result<> Restorer::open_made(sys::Folder& folder) const {
    constexpr std::uint32_t all = 0777, group_of_above = 02000;
    FB_TRY_ASSIGN(status, folder.status());
    return folder.set_permissions((all & ~parts.new_entries.owner().umask) | (status.permissions & group_of_above));
}

// Opens directories without an entry in the archive. Our archives have an entry for each directory.
Result<> Restorer::open_implied() {
    const bool root_has_entry = !folders_.of_depth.empty() && folders_.of_depth.front() > 0;
    // In our archives the root comes last. Until it is read, its permissions are unknown, so it stays closed.
    const bool was_read = scanned_ && parts.failures.fatal();
    if (root_->was_made && !root_has_entry && (was_read || !reader_.is_ours())) {
        FB_TRY_ASSIGN(place, target_folders_.front().reach("."));
        FB_TRY(open_made(*place.folder));
    }
    for (auto& folders : target_folders_) {
        auto& paths = folders.made();
        for (auto next = paths.begin(); next < paths.end();) {
            FB_TRY_ASSIGN(path, paths.at(next));
            next = tree::SpillTexts::behind(next, path);
            FB_TRY_ASSIGN(has_entry, is_known(path));
            if (has_entry) continue;
            FB_TRY_ASSIGN(place, target_folders_.front().reach(path));
            FB_TRY(open_made(*place.folder));
        }
    }
    return {};
}

// Deepest first; equal depths in the archive's order.
Result<tree::SpillArray<Restorer::Later>> Restorer::folders_by_depth() {
    std::vector<std::uint64_t> next(folders_.of_depth.size());
    for (auto depth = next.size(); depth-- > 1;) next[depth - 1] = next[depth] + folders_.of_depth[depth];
    tree::SpillArray<Later> sorted(folders_.all.size());
    for (std::uint64_t index = 0; index < folders_.all.size(); ++index) {
        FB_TRY_ASSIGN(folder, folders_.all.at(index));
        FB_TRY(sorted.set(next[folder.depth]++, folder));
    }
    return sorted;
}

Result<> Restorer::finish_folders() {
    FB_TRY(open_implied());
    if (!parts.options.filter.include.empty())
        for (auto& folders : target_folders_) folders.end_lending();  // wanted directories were reached before
    FB_TRY_ASSIGN(sorted, folders_by_depth());
    // In our archives repeated entries of a directory are equal. In other archives the last entry counts.
    const auto together = reader_.is_ours() ? folders_together : sorted.size();
    std::uint64_t begin = 0;
    for (auto depth = folders_.of_depth.size(); depth-- > 0;) {
        const auto end = begin + folders_.of_depth[depth];
        FB_TRY(parts.share.run([&](tree::TreeWorker& worker) {
            for (auto first = begin; first < end; first += together) {
                parts.share.add(worker, [&, first](tree::TreeWorker& other) {
                    for (auto at = first; at < std::min(first + together, end); ++at) {
                        if (parts.share.is_stopped()) return;
                        const auto later = sorted.at(at);
                        auto member = later ? member_at(*later) : later.error();
                        const auto done = member ? finish_folder(other, member->member) : Result<>(member.error());
                        if (!done) parts.failures.report(member ? member->member.path : ".", done.error());
                    }
                });
                parts.share.relieve(worker);
            }
        }));
        FB_TRY(parts.failures.fatal());
        begin = end;
    }
    return {};
}

Result<> Restorer::finish_folder(tree::TreeWorker& worker, const Member& member) {
    FB_TRY_ASSIGN(place, target_folders_[worker.index].reach(member.path));
    FB_TRY_ASSIGN(now, place.folder->status());
    const bool is_new = place.was_made || parts.new_entries.is_unfinished(now);
    FB_TRY_ASSIGN(wanted, is_wanted(member.path));
    if (!is_new && !wanted) return {};
    FB_TRY(settle_unread(parts.losses, parts.options.preserve, member));
    tree::Held held{.user = now.user, .group = now.group, .permissions = now.permissions};
    held.umask = parts.new_entries.owner().umask;
    held.is_new = is_new;
    if (parts.options.preserve.attributes) {
        FB_TRY_ASSIGN(names, place.folder->attribute_names());
        held.attributes = std::move(names);
        tree::drop_those_of_file_system(held.attributes);
    }
    ++parts.counts.folders;
    const auto settle = [&](const std::string& part, const std::string& value, Result<> done) {
        return done ? done : parts.losses.settle(member.path, member.status, part, value, std::move(done));
    };
    return tree::give_attributes(member.status, attributes_of(member, parts.options.preserve), *place.folder, held,
                                 parts.options.preserve, settle);
}

}  // namespace forebay::archive
