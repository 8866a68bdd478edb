#include "transfer/copy/copy.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_set>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/tree_place.hpp"
#include "transfer/remove/extra.hpp"
#include "transfer/team/copy_team.hpp"
#include "transfer/team/team_words.hpp"
#include "transfer/team/team_worker.hpp"
#include "transfer/walk/single_file.hpp"

namespace forebay::tree {

namespace {

// Most names at the top of a target that are looked up in the source.
constexpr std::uint64_t names_compared_max = 65'536;

Result<> check_apart(const CopyRoots& roots, const std::string& source, const std::string& target) {
    FB_TRY_ASSIGN(source_status, roots.source->status());
    FB_TRY_ASSIGN(target_status, roots.target->status());
    FB_TRY_ASSIGN(target_lies_in, roots.target->lies_in(source_status.id));
    FB_TRY_ASSIGN(source_lies_in, roots.source->lies_in(target_status.id));
    if (!target_lies_in && !source_lies_in) return {};
    return Error{
        ErrorKind::refused,
        fmt::format("{} and {} contain each other: a copy would copy itself", show_text(source), show_text(target)),
        "nothing was changed"};
}

// The parent of a new target must not lie in the source either.
Result<> make_target(CopyRoots& roots, const std::string& source, const std::string& target,
                     const TreeCopyOptions& options) {
    FB_TRY_ASSIGN(named, open_above_new(target));
    const auto& [above, name] = named;
    roots.above = above;
    FB_TRY_ASSIGN(status, roots.source->status());
    FB_TRY_ASSIGN(lies_in, above->lies_in(status.id));
    FB_TRY(check_layout(options.layout, *above, target));
    if (lies_in)
        return Error{ErrorKind::refused,
                     fmt::format("{} lies in {}: a copy would copy itself", show_text(target), show_text(source))};
    roots.was_made = true;
    if (options.is_dry) return {};
    constexpr std::uint32_t closed_while_filled = 0700;
    if (const auto folder = above->make_folder(name, closed_while_filled); !folder)
        return with_context(
            folder.error(), fmt::format("{} cannot be made: {}", show_text(target), folder.error().what), "",
            folder.error().kind == ErrorKind::refused ? "give a path in a directory that you may write to" : "");
    FB_TRY_ASSIGN(opened, above->open_folder(name));
    roots.target = std::move(opened);
    return {};
}

bool has_looked_at_all(const TreeCopyOptions& options) {
    return options.preserve.attributes && !options.is_dry && !options.trusts_attributes && !options.one_file_system &&
           !options.wished && options.filter.is_empty();
}

Result<CopyRoots> open_roots(const std::string& source, const std::string& target, const TreeCopyOptions& options) {
    CopyRoots roots;
    FB_TRY_ASSIGN(opened, sys::open_tree(source));
    roots.source = std::move(opened);
    auto existing = sys::open_tree(target);
    if (existing) {
        roots.target = std::move(*existing);
        FB_TRY(check_apart(roots, source, target));
        FB_TRY(check_layout(options.layout, *roots.target, target));
    } else if (existing.error().kind == ErrorKind::missing && !sys::is_whole_store(target)) {
        FB_TRY(make_target(roots, source, target, options));
    } else {
        return existing.error();
    }
    if (roots.target && !options.is_dry && !options.is_locked) {
        FB_TRY_ASSIGN(is_ours, roots.target->lock_alone());
        if (!is_ours)
            return Error{ErrorKind::refused, fmt::format("another process copies to {}", show_text(target)),
                         "nothing was changed", "wait for it"};
    }
    if (!sys::is_far(source) && !sys::is_far(target)) roots.places = places_of(source, target);
    roots.temporary_prefix = temporary_prefix(source, target);
    return roots;
}

// Shares the work with the workers until all is done.
Result<> walk_shared(CopyParts& parts, CopyTeam& shared, const DirNodeRef& root) {
    auto& lead = *parts.options.lead;
    root->was_changed = true;  // by the file that workers looked for
    FB_TRY(lead.start(shared.work(root), [&](const TeamMessage& message) { shared.settle(message); }));
    const auto walked = parts.walk.run(root, true);
    lead.finish(!walked || parts.share.is_stopped());
    FB_TRY(parts.failures.fatal());
    FB_TRY(walked);
    return shared.take_over(lead);
}

// File systems make these themselves. They are no sign of a copy.
bool is_of_file_system(std::string_view name) {
    return name == "lost+found" || name == ".snapshot" || name == ".snapshots";
}

/// Compares the top entries of both trees.
struct Tops {
    std::uint64_t at_target = 0;  // for a removal without excluded entries
    bool source_is_empty = true, are_alike = false;
};

Result<Tops> look_at_tops(const CopyRoots& roots, const TreeCopyOptions& options) {
    Tops tops;
    std::unordered_set<std::string> names;
    const DirNode top(nullptr, "");
    FB_TRY(roots.target->list([&](std::span<const sys::NamedEntry> listed) -> sys::TakerAnswer {
        for (const auto& entry : listed) {
            std::string name(entry.name);
            if (name.starts_with(any_temporary)) continue;
            if (!options.removes_extra && is_of_file_system(name)) continue;  // a removal would remove it
            if (options.removes_extra && !options.filter.takes(top, name, entry.kind)) continue;
            if (++tops.at_target <= names_compared_max) names.insert(std::move(name));
        }
        const bool has_enough = !options.removes_extra && tops.at_target >= names_compared_max;
        return has_enough ? sys::TakerAnswer::enough() : sys::TakerAnswer();
    }));
    FB_TRY(roots.source->list([&](std::span<const sys::NamedEntry> listed) -> sys::TakerAnswer {
        for (const auto& entry : listed) {
            if (is_of_file_system(entry.name)) continue;
            tops.source_is_empty = false;
            tops.are_alike = tops.are_alike || names.contains(std::string(entry.name));
        }
        return tops.are_alike ? sys::TakerAnswer::enough() : sys::TakerAnswer();
    }));
    return tops;
}

// The name of SOURCE, to suggest a place in TARGET.
std::string name_of_source(const std::string& source) {
    std::error_code none;
    auto path = sys::is_far(source) ? source : std::filesystem::absolute(source, none).lexically_normal().string();
    while (path.ends_with('/')) path.pop_back();
    return leaf_of(path);
}

// Protects against a wrong place. A file system that is not mounted leaves an empty directory: sync would remove all at
// the target. A target without any name of the source is probably a wrong path, such as the directory above the copy:
// its entries would be removed, or mixed with the source in a directory with the source's owner.
Result<> check_tops(const CopyRoots& roots, const std::string& source, const std::string& target,
                    const TreeCopyOptions& options) {
    if (!roots.target || roots.was_made) return {};
    FB_TRY_ASSIGN(tops, look_at_tops(roots, options));
    if (tops.at_target == 0 || tops.are_alike) return {};
    const bool empties = options.removes_extra && tops.source_is_empty;
    if (empties && !options.allows_empty)
        return Error{ErrorKind::refused,
                     fmt::format("{0} is empty, and {1} is not: all of {1} would be removed", show_text(source),
                                 show_text(target)),
                     "nothing was changed", "mount the source. If it is meant to be empty, give --allow-empty"};
    if (empties || options.allows_unlike || (tops.source_is_empty && options.allows_empty)) return {};
    const auto first = tops.at_target > names_compared_max ? fmt::format("the first {} of ", names_compared_max) : "";
    const auto harm = options.removes_extra
                          ? fmt::format("--delete would remove all {} entries of TARGET", tops.at_target)
                          : "the copy would mix the two, and give TARGET the owner and permissions of SOURCE";
    return Error{ErrorKind::refused,
                 fmt::format("{}TARGET {} and SOURCE {} have no entry in common: {}", first, show_text(target),
                             show_text(source), harm),
                 "nothing was changed",
                 fmt::format("use {}/{}, if you meant that. To {}, give --allow-unlike", show_text(target),
                             show_text(name_of_source(source)),
                             options.removes_extra ? "remove these entries" : "merge the two")};
}

// An unmounted file system looks as if its entries were removed.
Result<> check_mounts(sys::Folder& source, const std::vector<sys::MountBelow>& before) {
    FB_TRY_ASSIGN(now, source.mounts_below());
    if (now == before) return {};
    const auto [at, other] = std::ranges::mismatch(before, now);
    return Error{ErrorKind::refused,
                 fmt::format("mounts below the source changed during the copy: {}",
                             show_text(at != before.end() ? at->path : other->path)),
                 "all entries were copied, and nothing was removed", "mount it, and run the same command again"};
}

std::string why_not_removed(const EntryLog& entry_log) {
    if (!entry_log.taken()) return "the report of removals cannot be written";
    if (entry_log.errors_at_target() == 0) return "some of the source could not be read and copied";
    if (entry_log.errors_at_target() == entry_log.errors()) return "some of the target could not be read and changed";
    return "some of the source and of the target could not be read";
}

// Returns false if the target has more directories in the way than one pass replaces.
Result<bool> copy_once(const CopyRoots& roots, const CopyPlaces& places, const TreeCopyOptions& options,
                       EntryLog& entry_log, CopyCounts& counts) {
    CopyParts parts(options, entry_log, counts, places);
    if (roots.target) FB_TRY(parts.naming.begin(roots.target));
    FB_TRY_ASSIGN(root, parts.walk.open_root(roots.source, roots.target, roots.was_made, true));
    std::optional<CopyTeam> shared;
    auto* lead = options.lead;
    if (lead != nullptr) FB_TRY(walk_shared(parts, shared.emplace(parts, lead->team()), root));
    else FB_TRY(parts.walk.run(root, true));
    FB_TRY(parts.replacer.run());
    if (options.is_dry && parts.deferred.has_more())  // a real run replaces these first and makes another pass
        entry_log.add(EntryEvent::skipped, ".",
                      fmt::format("more than {} directories of the target are in the way: the report stops here",
                                  options.tables.deferred));
    return !parts.deferred.has_more() || entry_log.has_errors() || options.is_dry;
}

}  // namespace

Result<> copy_open_trees(const CopyRoots& roots, const TreeCopyOptions& options, EntryLog& entry_log,
                         CopyCounts& counts) {
    CopyPlaces places{.temporary_prefix = roots.temporary_prefix,
                      .asked = roots.target ? roots.target : roots.above,
                      .has_others = roots.has_others};
    if (roots.target && options.preserve.attributes && !roots.places.empty()) {
        FB_TRY_ASSIGN(last, LastCopy::find(*roots.source, *roots.target, roots.places));
        places.last_copy = last;
    }
    if (roots.target) {
        FB_TRY_ASSIGN(clocks, clocks_of(*roots.source, *roots.target));
        places.clocks = clocks;
    }
    // Read before the copy: check_mounts() compares them before the removal.
    FB_TRY_ASSIGN(mounts, roots.source->mounts_below());
    sys::FileTime settled;
    if (options.removes_extra && !options.is_dry) {
        FB_TRY_ASSIGN(time, settled_time(*roots.source));
        settled = time;
    }
    auto turn = options;
    for (bool is_all = false; !is_all; turn.lead = nullptr) {
        FB_TRY_ASSIGN(done, copy_once(roots, places, turn, entry_log, counts));
        is_all = done;
    }
    // An unread source entry looks as if only the target had it. So after any error nothing is removed.
    if (options.removes_extra && entry_log.has_errors()) {
        if (counts.not_removed.empty()) counts.not_removed = why_not_removed(entry_log);
    } else if (options.removes_extra && roots.target && !roots.was_made) {
        FB_TRY(check_mounts(*roots.source, mounts));
        FB_TRY(remove_extra(roots.source, roots.target, {mounts, settled}, options, entry_log, counts));
        if (!entry_log.taken()) counts.not_removed = why_not_removed(entry_log);
    }
    if (options.syncs && !options.is_dry) FB_TRY(roots.target->sync_file_system());
    if (has_looked_at_all(options) &&
        entry_log.are_all({EntryEvent::as_files, EntryEvent::flags_not_copied, EntryEvent::adjusted}))
        places.last_copy.keep();
    return entry_log.taken();
}

Result<> copy_for_team(TeamPort& port, const TeamOrder& order) {
    EntryLog entry_log(log_to_first(port), order.recorded);
    CopyCounts counts;
    auto options = order.options;
    options.threads = static_cast<std::uint32_t>(order.threads);
    options.rate_bytes_per_second = order.first_rate();
    options.manifest = [&](const Unkept& unkept) {
        port.send(0, message_of(unkept));
        return Result<>();
    };
    if (order.has_list) {
        FB_TRY_ASSIGN(list, ask_for_list(port, options.tables.list_bytes));
        options.wished = list;
    }
    FB_TRY_ASSIGN(source, sys::open_tree(order.source));
    FB_TRY(check_team_root(*source, order.source_root, order.source));
    FB_TRY_ASSIGN(status, source->status());
    if (order.options.preserve.hard_links && order.tells_births != (status.born != sys::FileTime{}))
        return Error{
            ErrorKind::refused,
            fmt::format(
                "only one of the hosts reports when files of {} were made, so hard links would become separate files",
                show_text(order.source)),
            "", "leave this host out, or leave hard-links out of --preserve"};
    TeamLease lease{std::chrono::seconds(order.timeout_seconds)};
    FolderRef target, asked;
    if (order.lacks_target) {
        FB_TRY_ASSIGN(named, open_above(order.target));
        asked = named.above;
    } else {
        FB_TRY_ASSIGN(opened, sys::open_tree(order.target));
        target = within_lease(std::move(opened), lease);
        if (!order.probe.empty() && !target->status_of(order.probe))
            return Error{ErrorKind::refused,
                         fmt::format("{} is another directory there: it does not show a file that was just made in it",
                                     show_text(order.target))};
        FB_TRY(order.probe.empty() ? check_team_root(*target, order.target_root, order.target)
                                   : check_team_mounts(*target, order.target_root, order.target));
    }
    CopyPlaces places{.temporary_prefix = order.temporary_prefix,
                      .temporary_end = fmt::format("-{}-{:08x}", order.process, sys::random_u64() & 0xffff'ffffu),
                      .asked = target ? target : asked};
    if (target) {
        FB_TRY_ASSIGN(clocks, clocks_of(*source, *target));
        places.clocks = clocks;
    }
    CopyParts parts(options, entry_log, counts, places);
    if (target) FB_TRY(parts.naming.begin(target));
    TeamMembership membership(port, order, lease);
    CopyTeam shared(parts, membership.team());
    FB_TRY_ASSIGN(root, parts.walk.open_root(std::move(source), target, order.lacks_target, false));
    FB_TRY(membership.start(shared.work(root)));
    auto done = parts.walk.run(root, false);
    if (done && options.syncs && !options.is_dry) done = target->sync_file_system();
    return membership.leave(done);
}

namespace {

Result<> copy_file(const NamedRoot& file, const std::string& source, const std::string& target,
                   const TreeCopyOptions& options, EntryLog& entry_log, CopyCounts& counts) {
    if (options.lead != nullptr || options.wished || options.removes_extra || options.one_file_system ||
        !options.filter.is_empty())
        return Error{
            ErrorKind::refused,
            show_text(source) + " is a file: --hosts, patterns, lists, --one-file-system and --delete need a directory",
            "nothing was changed", "leave them out"};
    FB_TRY_ASSIGN(named, target_of_file(file, source, target));
    FB_TRY(check_layout(options.layout, *named.above, target));
    std::optional<CopyLock> lock;
    CopyRoots roots{.source = folder_of_one(file, named.name), .target = named.above, .has_others = true};
    roots.temporary_prefix = temporary_prefix(source, target);
    if (!options.is_dry && !sys::is_far(target)) {
        auto taken =
            CopyLock::take(named.above, fmt::format("{}lock{}", any_temporary, roots.temporary_prefix.substr(3, 9)));
        if (!taken) return with_context(taken.error(), fmt::format("{}: {}", show_text(target), taken.error().what));
        lock.emplace(std::move(*taken));
    }
    auto of_one = options;
    FB_TRY_ASSIGN(wish, path_list(named.name + '\0', true));
    of_one.wished = wish;
    return copy_open_trees(roots, of_one, entry_log, counts);
}

// A rename or a mount during the copy may have put another directory under the target's path.
Result<> check_place(sys::Folder& copy, const std::string& target, EntryLog& entry_log) {
    if (sys::is_far(target)) return {};
    FB_TRY_ASSIGN(status, copy.status());
    const auto opened = sys::open_tree(target);
    const auto now = opened ? (*opened)->status() : Result<sys::EntryStatus>(opened.error());
    const bool is_gone = !now && now.error().kind == ErrorKind::missing;
    if (is_gone || (now && now->id != status.id))
        entry_log.add(
            EntryEvent::failed, ".",
            fmt::format("{}, {} was replaced during the copy: the copy lies in the directory that was moved away",
                        at_target, show_text(target)));
    return {};
}

}  // namespace

Result<> copy_tree(const std::string& source, const std::string& target, const TreeCopyOptions& options,
                   EntryLog& entry_log, CopyCounts& counts) {
    FB_TRY_ASSIGN(file, file_at(source));
    if (file) return copy_file(*file, source, target, options, entry_log, counts);
    if (options.removes_extra && options.wished)
        return Error{
            ErrorKind::refused,
            "--delete cannot work with a list of paths: the list does not show which entries the source lacks"};
    if (options.trusts_attributes && options.cannot_keep == CannotKeep::manifest)
        return Error{
            ErrorKind::refused,
            "--quick skips extended attributes of entries older than their copies, so the manifest would miss some",
            "nothing was changed", "leave out --quick"};
    FB_TRY_ASSIGN(roots, open_roots(source, target, options));
    FB_TRY(check_tops(roots, source, target, options));
    if (options.lead != nullptr)
        FB_TRY(begin_copy_team(source, target, roots.temporary_prefix, options, entry_log, *roots.source,
                               roots.target.get()));
    const auto copied = copy_open_trees(roots, options, entry_log, counts);
    if (roots.target && !options.is_locked) roots.target->unlock();  // workers may hold the directory open longer
    if (copied && roots.target && !options.is_dry) FB_TRY(check_place(*roots.target, target, entry_log));
    return copied;
}

}  // namespace forebay::tree
