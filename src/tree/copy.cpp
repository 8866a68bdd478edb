#include "tree/copy.hpp"

#include <fmt/format.h>

#include <unordered_set>

#include "base/path.hpp"
#include "base/show_text.hpp"
#include "base/try.hpp"
#include "sys/machine.hpp"
#include "sys/tree_place.hpp"
#include "tree/copy_team.hpp"
#include "tree/extra.hpp"
#include "tree/single_file.hpp"
#include "tree/team_member.hpp"
#include "tree/team_words.hpp"

namespace forebay::tree {

namespace {

// Of the names at the top of a target so many are looked for in the source.
constexpr std::uint64_t names_compared_max = 65'536;

Result<> check_apart(const CopyRoots& roots, const std::string& source, const std::string& target) {
    FB_TRY_ASSIGN(source_status, roots.source->status());
    FB_TRY_ASSIGN(target_status, roots.target->status());
    FB_TRY_ASSIGN(target_lies_in, roots.target->lies_in(source_status.id));
    FB_TRY_ASSIGN(source_lies_in, roots.source->lies_in(target_status.id));
    if (!target_lies_in && !source_lies_in) return {};
    return Error{
        ErrorKind::refused,
        fmt::format("{} and {} lie in each other: a copy would copy itself", show_text(source), show_text(target)),
        "nothing was changed"};
}

// The folder above, in which the target is to be made, must not lie in the source either.
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
    if (const auto made = above->make_folder(name, closed_while_filled); !made)
        return because(
            made.error(), fmt::format("{} cannot be made: {}", show_text(target), made.error().what), "",
            made.error().kind == ErrorKind::refused ? "a path in a directory that this user may write to" : "");
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

// With the others, until all of it is done.
Result<> walk_shared(CopyContext& context, CopyWalk& walk, CopyTeam& shared, const BranchRef& root) {
    auto& lead = *context.options.lead;
    root->was_changed = true;  // by the file that members have looked for
    FB_TRY(lead.start(shared.work(root), [&](const TeamMessage& message) { shared.settle(message); }));
    const auto walked = walk.run(root, true);
    lead.finish(!walked || context.share.is_stopped());
    FB_TRY(context.fatal());
    FB_TRY(walked);
    return shared.take_over(lead);
}

/// What a removal would find at the top of both trees.
struct Tops {
    std::uint64_t at_target = 0;  // that patterns do not leave out
    bool source_is_empty = true, are_alike = false;
};

Result<Tops> look_at_tops(const CopyRoots& roots, const TreeCopyOptions& options) {
    Tops tops;
    std::unordered_set<std::string> names;
    const Branch top(nullptr, "");
    FB_TRY(roots.target->list([&](std::span<const sys::NamedEntry> listed) -> Result<> {
        for (const auto& one : listed) {
            std::string name(one.name);
            const bool is_unfinished = name.starts_with(roots.temporary_prefix);
            if (is_unfinished || !options.filter.takes(top, name, one.kind)) continue;
            if (++tops.at_target <= names_compared_max) names.insert(std::move(name));
        }
        return {};
    }));
    const auto listed = roots.source->list([&](std::span<const sys::NamedEntry> names_of_source) -> Result<> {
        for (const auto& one : names_of_source) {
            tops.source_is_empty = false;
            tops.are_alike = tops.are_alike || names.contains(std::string(one.name));
        }
        return tops.are_alike ? Result<>(Error{ErrorKind::refused, ""}) : Result<>();  // that is enough
    });
    if (!listed && !tops.are_alike) return listed.error();
    return tops;
}

// A file system that is not mounted leaves an empty folder in its place. A target of which nothing comes from the
// source is another place than was meant, such as the folder above the copy.
Result<> check_tops(const CopyRoots& roots, const std::string& source, const std::string& target,
                    const TreeCopyOptions& options) {
    if (!roots.target || roots.was_made) return {};
    FB_TRY_ASSIGN(tops, look_at_tops(roots, options));
    if (tops.at_target == 0 || tops.are_alike) return {};
    if (tops.source_is_empty && !options.allows_empty)
        return Error{ErrorKind::refused,
                     fmt::format("{} has no entry at all, and {} has some: all of it would be removed",
                                 show_text(source), show_text(target)),
                     "nothing was changed", "mount the source; or give --allow-empty, where it is empty on purpose"};
    if (tops.source_is_empty || options.allows_unlike) return {};
    auto name = std::string_view(source);
    while (name.ends_with('/')) name.remove_suffix(1);
    const auto first = tops.at_target > names_compared_max ? fmt::format("the first {} of ", names_compared_max) : "";
    return Error{ErrorKind::refused,
                 fmt::format("no entry of {}{} is one of {}: all {} would be removed", first, show_text(target),
                             show_text(source), tops.at_target),
                 "nothing was changed",
                 fmt::format("{}/{}, if that was meant; or --allow-unlike, where all of them are to go",
                             show_text(target), show_text(leaf_of(name)))};
}

// What is not mounted any more seems to be gone.
Result<> check_mounts(sys::Folder& source, const std::vector<sys::MountBelow>& before) {
    FB_TRY_ASSIGN(now, source.mounts_below());
    if (now == before) return {};
    const auto [at, other] = std::ranges::mismatch(before, now);
    return Error{ErrorKind::refused,
                 fmt::format("what is mounted below the source has changed meanwhile: {}",
                             show_text(at != before.end() ? at->path : other->path)),
                 "all was copied, and nothing was removed", "mount it, and run the same command again"};
}

std::string why_not_removed(const Remarks& remarks) {
    if (remarks.errors_at_target() == 0) return "not all of the source could be read and copied";
    if (remarks.errors_at_target() == remarks.errors()) return "not all of the target could be read and changed";
    return "neither all of the source nor all of the target could be read";
}

// False: more folders of the target are in the way than one turn replaces.
Result<bool> copy_once(const CopyRoots& roots, const CopyPlaces& places, const TreeCopyOptions& options,
                       Remarks& remarks, CopyCounts& counts) {
    CopyContext context(options, remarks, counts, places);
    if (roots.target) FB_TRY(context.naming.begin(roots.target));
    CopyWalk walk(context);
    FB_TRY_ASSIGN(root, walk.open_root(roots.source, roots.target, roots.was_made, true));
    std::optional<CopyTeam> shared;
    auto* lead = options.lead;
    if (lead != nullptr) FB_TRY(walk_shared(context, walk, shared.emplace(context, walk, lead->team()), root));
    else FB_TRY(walk.run(root, true));
    FB_TRY(walk.replace_folders());
    if (options.is_dry && context.has_put_off_later())  // a run replaces these first, and then comes again
        remarks.add(RemarkKind::passed_over, ".",
                    fmt::format("more than {} folders of the target stand in the way: nothing is said of the others",
                                options.tables.put_off));
    return !context.has_put_off_later() || remarks.has_errors() || options.is_dry;
}

}  // namespace

Result<> copy_open_trees(const CopyRoots& roots, const TreeCopyOptions& options, Remarks& remarks, CopyCounts& counts) {
    CopyPlaces places{.temporary_prefix = roots.temporary_prefix,
                      .asked = roots.target ? roots.target : roots.above,
                      .has_others = roots.has_others};
    if (roots.target && options.preserve.attributes && !roots.places.empty()) {
        FB_TRY_ASSIGN(last, LastCopy::find(*roots.source, *roots.target, roots.places));
        places.last_copy = last;
    }
    if (roots.target) {
        FB_TRY_ASSIGN(margin, clock_margin_seconds(*roots.source, *roots.target));
        places.clock_margin_seconds = margin;
    }
    FB_TRY_ASSIGN(mounts, roots.source->mounts_below());
    auto turn = options;
    for (bool is_all = false; !is_all; turn.lead = nullptr) {
        FB_TRY_ASSIGN(done, copy_once(roots, places, turn, remarks, counts));
        is_all = done;
    }
    // An entry that could not be read may be one that the target alone seems to have.
    if (options.removes_extra && remarks.has_errors()) counts.not_removed = why_not_removed(remarks);
    else if (options.removes_extra && roots.target && !roots.was_made) {
        FB_TRY(check_mounts(*roots.source, mounts));
        FB_TRY(remove_extra(roots.source, roots.target, mounts, options, remarks, counts));
    }
    if (options.syncs && !options.is_dry) FB_TRY(roots.target->sync_file_system());
    if (has_looked_at_all(options) && remarks.are_all({RemarkKind::as_files, RemarkKind::adjusted}))
        places.last_copy.keep();
    return remarks.taken();
}

Result<> copy_for_team(TeamPort& port, const TeamOrder& order) {
    Remarks remarks(remarks_to_first(port), order.recorded);
    CopyCounts counts;
    TreeCopyOptions options{.threads = static_cast<std::uint32_t>(order.threads),
                            .filter = order.filter,
                            .preserve = order.preserve,
                            .cannot_keep = order.cannot_keep,
                            .rate_bytes_per_second = order.first_rate(),
                            .one_file_system = order.one_file_system,
                            .removes_extra = order.removes_extra,
                            .compares_bytes = order.compares_bytes,
                            .trusts_attributes = order.trusts_attributes,
                            .verifies = order.verifies,
                            .recalls = order.recalls,
                            .is_dry = order.is_dry,
                            .syncs = order.syncs,
                            .is_run = order.is_run,
                            .layout = order.layout};
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
    FolderRef target, asked;
    if (order.lacks_target) {
        FB_TRY_ASSIGN(named, open_above(order.target));
        asked = named.above;
    } else {
        FB_TRY_ASSIGN(opened, sys::open_tree(order.target));
        target = std::move(opened);
        if (!order.probe.empty() && !target->status_of(order.probe))
            return Error{ErrorKind::refused, fmt::format("{} is another directory there: a file that was just made in "
                                                         "it is not to be seen",
                                                         show_text(order.target))};
        FB_TRY(order.probe.empty() ? check_team_root(*target, order.target_root, order.target)
                                   : check_team_mounts(*target, order.target_root, order.target));
    }
    CopyPlaces places{.temporary_prefix = order.temporary_prefix,
                      .temporary_end = fmt::format("-{}-{:08x}", order.process, sys::random_u64() & 0xffff'ffffu),
                      .asked = target ? target : asked};
    if (target) {
        FB_TRY_ASSIGN(margin, clock_margin_seconds(*source, *target));
        places.clock_margin_seconds = margin;
    }
    CopyContext context(options, remarks, counts, places);
    if (target) FB_TRY(context.naming.begin(target));
    CopyWalk walk(context);
    TeamMembership membership(port, order);
    CopyTeam shared(context, walk, membership.team());
    FB_TRY_ASSIGN(root, walk.open_root(std::move(source), target, order.lacks_target, false));
    FB_TRY(membership.start(shared.work(root)));
    auto done = walk.run(root, false);
    if (done && options.syncs && !options.is_dry && !membership.is_alone()) done = target->sync_file_system();
    return membership.leave(done);
}

namespace {

Result<> copy_file(const NamedRoot& file, const std::string& source, const std::string& target,
                   const TreeCopyOptions& options, Remarks& remarks, CopyCounts& counts) {
    if (options.lead != nullptr || options.wished || options.removes_extra || options.one_file_system ||
        !options.filter.is_empty())
        return Error{ErrorKind::refused,
                     show_text(source) +
                         " is a file: other processes, patterns, lists, --one-file-system and --delete "
                         "are for directories",
                     "nothing was changed", "leave them out"};
    FB_TRY_ASSIGN(named, target_of_file(file, source, target));
    FB_TRY(check_layout(options.layout, *named.above, target));
    std::optional<CopyLock> lock;
    CopyRoots roots{.source = folder_of_one(file, named.name), .target = named.above, .has_others = true};
    roots.temporary_prefix = temporary_prefix(source, target);
    if (!options.is_dry && !sys::is_far(target)) {
        auto taken = CopyLock::take(named.above, ".fb-lock" + roots.temporary_prefix.substr(3, 9));
        if (!taken) return because(taken.error(), fmt::format("{}: {}", show_text(target), taken.error().what));
        lock.emplace(std::move(*taken));
    }
    auto of_one = options;
    FB_TRY_ASSIGN(wish, wished_paths(named.name + '\0', true));
    of_one.wished = wish;
    return copy_open_trees(roots, of_one, remarks, counts);
}

}  // namespace

Result<> copy_tree(const std::string& source, const std::string& target, const TreeCopyOptions& options,
                   Remarks& remarks, CopyCounts& counts) {
    FB_TRY_ASSIGN(file, file_at(source));
    if (file) return copy_file(*file, source, target, options, remarks, counts);
    if (options.removes_extra && options.wished)
        return Error{ErrorKind::refused,
                     "with a list of paths nothing can be removed: the list does not say what the "
                     "source has not"};
    if (options.trusts_attributes && options.cannot_keep == CannotKeep::manifest)
        return Error{
            ErrorKind::refused,
            "--quick does not look at extended attributes of entries that are older than their copies, so that "
            "the manifest would not have those that the target cannot hold",
            "nothing was changed", "leave out --quick"};
    FB_TRY_ASSIGN(roots, open_roots(source, target, options));
    if (options.removes_extra) FB_TRY(check_tops(roots, source, target, options));
    if (options.lead != nullptr)
        FB_TRY(begin_copy_team(source, target, roots.temporary_prefix, options, remarks, *roots.source,
                               roots.target.get()));
    const auto copied = copy_open_trees(roots, options, remarks, counts);
    if (roots.target && !options.is_locked) roots.target->unlock();  // a team's members may hold the folder longer
    return copied;
}

}  // namespace forebay::tree
