// Checks before a pass changes anything: source and target are still the same directories.

#include <fmt/format.h>

#include "core/base/shell_words.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "transfer/migrate/passes.hpp"
#include "transfer/runs/run.hpp"

namespace forebay::migrate {

// The directory must be the one that an earlier pass recorded.
Result<> Passes::check_root(std::string_view side, const std::string& place, const RootSight& sight, Pass noted_by,
                            std::optional<RootIdentity>& noted) const {
    if (!noted) noted = sight.identity;
    if (noted == sight.identity) return {};
    const auto seen_at = state_.of(noted_by).ended_unix_s;
    return Error{ErrorKind::refused,
                 fmt::format("{} {} is not the same directory as at {}. Is it mounted?", side, show_text(place),
                             seen_at > 0 ? fmt::format("the {} of {}", name_of(noted_by), show_date(seen_at))
                                         : fmt::format("an earlier {}", name_of(noted_by))),
                 state_.is_being_removed ? "nothing more was removed" : "nothing was changed",
                 fmt::format("mount the right directory. If the same tree was moved: {}", next_call("--moved"))};
}

Error Passes::not_noted(std::string_view side, const std::string& place, std::string_view done) const {
    return {
        ErrorKind::refused,
        fmt::format("there is no record of the directory of {} {}: an older program has {} it", side, show_text(place),
                    done),
        state_.is_being_removed ? "nothing more was removed" : "nothing was changed",
        has_filled_target()
            ? fmt::format("check that {} and {} are mounted and are the trees of the copy. Then {}",
                          show_text(project_.source), show_text(project_.target), next_call("--moved"))
            : fmt::format("check that it is mounted and is the tree that was {}. Then {}", done, next_call("--moved"))};
}

Result<> Passes::note_roots() {
    state_.source_root.reset();
    state_.target_root.reset();
    FB_TRY(check_source(true));
    FB_TRY(check_target(true));
    FB_TRY(check_alike());
    return save_();
}

// A mount point may hold a stray file. It must not pass for the filled target, because the source is removed in the
// end.
Result<> Passes::check_alike() const {
    if (!has_filled_target()) return {};
    FB_TRY_ASSIGN(are_alike, have_name_in_common(project_.source, project_.target));
    if (are_alike) return {};
    return Error{
        ErrorKind::refused,
        fmt::format("target {} has no entry in common with source {}. Is it mounted?", show_text(project_.target),
                    show_text(project_.source)),
        state_.is_being_removed ? "nothing more was removed" : "nothing was changed",
        state_.released_unix_s > 0
            ? fmt::format("mount it, and repeat the same command. If users renamed all entries, close the project: "
                          "forebay delete {}, and delete = false for this project in the plan",
                          shell_words({project_.source}))
            : fmt::format("mount both, and repeat the same command. If users renamed all entries of the source, {}",
                          next_call("--again walk"))};
}

Result<> Passes::check_source(bool notes) {
    if (is_remote(project_.source)) return {};
    FB_TRY_ASSIGN(sight, look_at_root(project_.source));
    const auto& walked = state_.of(Pass::walk);
    const auto entries = count_of(walked.counts, "entries");
    // If the walk found no entry except the root, an empty source is right.
    if (sight && (sight->has_entries || entries <= 1)) {
        if (!notes && !state_.source_root) return not_noted("source", project_.source, "walked");
        return check_root("source", project_.source, *sight, Pass::walk, state_.source_root);
    }
    const auto what = !sight ? fmt::format("source {} is missing", show_text(project_.source))
                             : fmt::format("source {} has 0 entries", show_text(project_.source));
    return Error{
        sight ? ErrorKind::refused : ErrorKind::missing,
        fmt::format("{}, but the walk of {} found {}. Is it mounted?", what, show_date(walked.ended_unix_s), entries),
        "nothing was changed", "mount it, and repeat the same command"};
}

bool Passes::has_filled_target() const {
    if (state_.of(Pass::final_sync).is_done && state_.frozen) return state_.frozen->entries > 1;
    std::uint64_t entries = 0;
    for (const auto pass : {Pass::copy, Pass::live_sync})
        for (const auto* name : {"folders", "copied", "linked", "adjusted", "equal"})
            entries += count_of(state_.of(pass).counts, name);
    return entries > 0;
}

Result<> Passes::check_target(bool notes) {
    if (!has_filled_target()) return {};
    FB_TRY_ASSIGN(sight, look_at_root(project_.target));
    const bool has_entries = sight && sight->has_entries;
    if (has_entries && !notes && !state_.target_root && sight->identity && state_.of(Pass::compare).is_done)
        return not_noted("target", project_.target, "compared");
    if (has_entries) return check_root("target", project_.target, *sight, Pass::copy, state_.target_root);
    const auto what = !sight ? fmt::format("target {} is missing", show_text(project_.target))
                             : fmt::format("target {} has 0 entries", show_text(project_.target));
    const bool is_open = state_.released_unix_s > 0;
    return Error{sight ? ErrorKind::refused : ErrorKind::missing,
                 fmt::format("{}, but the copy of {} filled it. Is it mounted?", what,
                             show_date(state_.of(Pass::copy).ended_unix_s)),
                 state_.is_being_removed ? "nothing more was removed" : "nothing was changed",
                 is_open ? fmt::format("mount it, and repeat the same command. If its users emptied it, close the "
                                       "project: forebay delete {}, and delete = false for this project in the plan",
                                       shell_words({project_.source}))
                         : fmt::format("mount it. If it is gone: {}", next_call("--again copy"))};
}

// Files of two runs in one directory would mix, and in the end the target's snapshots would be removed.
Result<> Passes::check_no_other_run() const {
    if (is_remote(project_.source) || is_remote(project_.target)) return {};
    FB_TRY_ASSIGN(target, cli::run_identity(project_.target));
    if (target == 0) return {};
    FB_TRY_ASSIGN(source, cli::run_identity(project_.source));
    if (target == source) return {};
    return Error{ErrorKind::refused,
                 fmt::format("target {} is a run of Forebay, and source {} is {}", show_text(project_.target),
                             show_text(project_.source), source == 0 ? "not a run" : "another run"),
                 "nothing was changed", "correct the target in the plan, or remove that run by hand"};
}

Result<> Passes::check_is_frozen(const char* what_else, FrozenInodes* inodes) const {
    if (!state_.frozen) return {};
    std::string newest;
    FB_TRY_ASSIGN(now, frozen_now(project_.source, frozen_walk(), inodes, &newest));
    if (now == *state_.frozen) return {};
    const auto& frozen = *state_.frozen;
    auto what = now.newest_change > frozen.newest_change
                    ? fmt::format("{} changed on {}", show_text(newest), show_date(now.newest_change.seconds))
                    : std::string("an entry was removed, or added with an older time");
    if (now.entries != frozen.entries)
        what += fmt::format("; it had {}, and has {}", show_count(frozen.entries, "entry"), now.entries);
    const auto find = fmt::format("find {} -newerct @{} lists the changes", shell_words({project_.source}),
                                  frozen.newest_change.seconds);
    return Error{ErrorKind::corrupt, fmt::format("the source changed after the final sync ({}): {}", what, what_else),
                 "source and target are as they were",
                 state_.released_unix_s > 0
                     ? fmt::format("{}. Copy the changes that you want to the target by hand. To close the project: "
                                   "forebay delete {}, and delete = false for this project in the plan",
                                   find, shell_words({project_.source}))
                     : fmt::format("{}. Then {}", find, next_call("--again freeze"))};
}

}  // namespace forebay::migrate
