#include "transfer/migrate/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

#include "core/base/path.hpp"
#include "core/base/shell_words.hpp"
#include "core/base/show_text.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/local_file.hpp"
#include "transfer/migrate/page.hpp"

namespace forebay::migrate {

namespace {

constexpr std::uint32_t frozen_threads_max = 16;
// Enough for 100 million inodes with several names, and directories.
constexpr std::uint64_t links_bytes_max = 2ull << 30;

// Nothing failed and the verb still returned 1: no entry matched the patterns.
bool is_all_left_out(const Counts& counts) {
    constexpr std::array left{"vanished", "changed", "failed", "not_kept", "released"};
    return std::ranges::none_of(left, [&](const char* name) { return count_of(counts, name) > 0; });
}

void add_options(std::vector<std::string>& call, const std::string& option, const std::vector<std::string>& values) {
    for (const auto& value : values) call.insert(call.end(), {option, value});
}

// One group for each plan: all its projects on this machine share the rate limit.
std::string rate_group(const MigrationPlan& plan) {
    return fmt::format("migrate-{:016x}", siphash({}, std::as_bytes(std::span(plan.state))));
}

}  // namespace

std::string reports_of(const MigrationPlan& plan, const ProjectPlan& project) {
    return plan.reports + "/" + project.name;
}

std::vector<std::string> call_of(Pass pass, const MigrationPlan& plan, const ProjectPlan& project, std::uint64_t turn) {
    const auto reports = reports_of(plan, project);
    auto name = std::string(name_of(pass));
    if (pass == Pass::live_sync) name += fmt::format("-{}", turn);
    std::vector<std::string> call;
    switch (pass) {
        case Pass::walk: call = {"walk", project.source, "--special", "--list", reports + "/special.jsonl"}; break;
        // Files of uncommitted saves of a run belong to the project.
        case Pass::copy: call = {"copy", project.source, project.target, "--as-files"}; break;
        case Pass::live_sync: call = {"sync", project.source, project.target, "--as-files", "--allow-unlike"}; break;
        case Pass::final_sync:
            call = {"sync", project.source, project.target, "--as-files", "--delete", "--allow-unlike"};
            break;
        case Pass::compare: call = {"compare", project.source, project.target}; break;
        case Pass::remove: call = {"delete", project.source}; break;
        default: return call;
    }
    call.insert(call.end(), {"--json", "--report", fmt::format("{}/{}.jsonl", reports, name)});
    call.insert(call.end(), {"--threads", std::to_string(plan.threads)});
    if (!plan.hosts.empty()) call.insert(call.end(), {"--hosts", plan.hosts});
    if (pass == Pass::remove) return call;
    add_options(call, "--include", project.include);
    add_options(call, "--exclude", project.exclude);
    if (project.one_file_system) call.emplace_back("--one-file-system");
    if (pass == Pass::walk) return call;
    call.insert(call.end(), {"--preserve", project.preserve});
    if (pass == Pass::compare) {
        if (!project.compares_bytes) call.emplace_back("--no-bytes");
        return call;
    }
    if (project.verify) call.emplace_back("--verify");
    if (plan.rate_bytes_per_second > 0)
        call.insert(call.end(),
                    {"--rate", std::to_string(plan.rate_bytes_per_second), "--rate-group", rate_group(plan)});
    return call;
}

Result<Runner::VerbEnd> Passes::call(Pass pass, std::uint64_t turn) const {
    return runner_.verb(call_of(pass, plan_, project_, turn));
}

Result<> Passes::make(Pass pass) {
    auto& record = state_.of(pass);
    switch (pass) {
        case Pass::walk: return walk(record);
        case Pass::copy: return copy(record);
        case Pass::live_sync: return live_sync(record);
        case Pass::freeze: return freeze();
        case Pass::final_sync: return final_sync(record);
        case Pass::compare: return compare(record);
        case Pass::report: return write_page(plan_, project_, state_, reports_of(plan_, project_));
        case Pass::release: return release();
        case Pass::wait: return {};
        case Pass::remove: return remove(record);
    }
    return {};
}

Result<> Passes::walk(PassRecord& record) {
    FB_TRY_ASSIGN(end, call(Pass::walk));
    record.counts = std::move(end.counts);
    return check_source(true);
}

// Users still work, so some entries vanish or change during the copy. The final sync copies them.
Result<> Passes::copy(PassRecord& record) {
    FB_TRY(check_source());
    FB_TRY(check_no_other_run());
    FB_TRY_ASSIGN(before, look_at_root(project_.target));
    if (before && state_.target_root)  // of an unfinished copy
        FB_TRY(check_root("target", project_.target, *before, Pass::copy, state_.target_root));
    const auto end = call(Pass::copy);
    // The target is the directory filled just now. If it cannot be read, the next pass reports that.
    if (const auto sight = look_at_root(project_.target); sight && *sight) state_.target_root = (*sight)->identity;
    // The advice of the verb names an option that a plan does not have.
    if (!end && end.error().next.find("--allow-unlike") != std::string::npos)
        return with_context(end.error(), end.error().what, end.error().safe,
                            "correct the target in the plan, or empty it: the final sync would remove its entries");
    FB_TRY(end);
    record.counts = end->counts;
    if (!end->is_whole && is_all_left_out(record.counts))
        return Error{ErrorKind::corrupt, "no entry of the source matches include of the plan",
                     "the project is open to its users as before",
                     fmt::format("correct include in {}, then {}", show_text(plan_.path), next_call(""))};
    return {};
}

// Entries that this call leaves out would also be left out by the final sync, while users wait.
Result<> Passes::live_sync(PassRecord& record) {
    if (plan_.sync_turns == 0) return check_nothing_left(Pass::copy);
    for (auto turn = count_of(record.counts, "turns") + 1; turn <= plan_.sync_turns; ++turn) {
        FB_TRY(check_source());
        FB_TRY(check_target());
        FB_TRY_ASSIGN(end, call(Pass::live_sync, turn));
        const auto changed =
            count_of(end.counts, "copied") + count_of(end.counts, "linked") + count_of(end.counts, "adjusted");
        record.counts = std::move(end.counts);
        record.counts["turns"] = turn;
        // After a kill the pass goes on with the next turn.
        FB_TRY(save_());
        if (changed <= plan_.sync_small) break;
    }
    const auto verdict = check_nothing_left(Pass::live_sync);
    if (!verdict) record.counts.erase("turns");  // the next call syncs again
    return verdict;
}

// Entries that users changed or removed during the read are left to the final sync.
Result<> Passes::check_nothing_left(Pass pass) const {
    const auto& counts = state_.of(pass).counts;
    const auto failed = count_of(counts, "failed"), not_kept = count_of(counts, "not_kept"),
               released = count_of(counts, "released");
    if (failed + not_kept + released == 0) return {};
    return Error{ErrorKind::corrupt,
                 fmt::format("the target will not have all of the source: {} failed, {} not_kept, {} released", failed,
                             not_kept, released),
                 "the project is open to its users as before",
                 fmt::format("correct the entries in {}. For not_kept, change preserve in the plan. For released, use "
                             "lfs hsm_restore. Then {}",
                             report_of(pass), next_call(pass == Pass::copy ? "--again copy" : ""))};
}

std::string Passes::report_of(Pass pass) const {
    auto name = std::string(name_of(pass));
    if (pass == Pass::live_sync) name += fmt::format("-{}", count_of(state_.of(pass).counts, "turns"));
    return fmt::format("{}/{}.jsonl", reports_of(plan_, project_), name);
}

std::string Passes::counts_text(Pass pass) const {
    const auto& counts = state_.of(pass).counts;
    const auto entry_log = entry_log_text(counts);
    std::vector<std::string> parts;
    for (const auto* name : {"entries", "copied", "removed"})
        if (const auto count = counts.find(name); count != counts.end())
            parts.push_back(name == std::string_view("entries") ? show_count(count->second, "entry")
                                                                : fmt::format("{} {}", count->second, name));
    if (!entry_log.empty()) parts.push_back(fmt::format("{}: {}", entry_log, report_of(pass)));
    return fmt::format("{}{}", parts.empty() ? "" : ": ", fmt::join(parts, ", "));
}

Result<> Passes::final_sync(PassRecord& record) {
    FB_TRY(check_source());
    FB_TRY(check_target());
    if (!is_remote(project_.source)) {
        // Taken before the sync: compare() then finds changes made during the sync, too.
        FB_TRY_ASSIGN(frozen, frozen_now(project_.source, frozen_walk()));
        state_.frozen = frozen;
        FB_TRY(save_());
    }
    FB_TRY_ASSIGN(end, call(Pass::final_sync));
    record.counts = std::move(end.counts);
    if (end.is_whole) return {};
    return Error{ErrorKind::corrupt, "the target does not have all of the source",
                 "nothing was removed from the target or the source",
                 fmt::format("correct the entries in {}/final-sync.jsonl. The same command syncs again",
                             reports_of(plan_, project_))};
}

Result<> Passes::compare(PassRecord& record) {
    FB_TRY(check_source());
    FB_TRY(check_target());
    FB_TRY_ASSIGN(end, call(Pass::compare));
    record.counts = std::move(end.counts);
    if (!end.is_whole)
        return Error{ErrorKind::corrupt, "source and target differ", "the source is unchanged",
                     fmt::format("look at {}/compare.jsonl, then {}", reports_of(plan_, project_),
                                 next_call("--again final-sync"))};
    return check_is_frozen("the freeze did not keep its users out", nullptr);
}

// A hook that closes the directory under a mount point would leave the project open.
Result<> Passes::freeze() {
    FB_TRY(check_source());
    return runner_.hook("freeze", project_.freeze, hook_time());
}

// The time of release is saved first: a hook that fails or is killed may have opened the target already.
Result<> Passes::release() {
    FB_TRY(check_target());
    if (state_.released_unix_s == 0) state_.released_unix_s = now_s();
    FB_TRY(save_());
    if (project_.release.empty()) return {};
    return runner_.hook("release", project_.release, hook_time());
}

Result<> Passes::remove(PassRecord& record) {
    if (is_remote(project_.source))
        return Error{ErrorKind::refused,
                     "the source is not a directory here, so it has no times of changes and is not removed",
                     "the source is unchanged", fmt::format("forebay delete {}", show_text(project_.source))};
    if (!state_.is_being_removed) {
        FB_TRY(begin_removal());
    } else {
        FB_TRY_ASSIGN(sight, look_at_root(project_.source));
        if (!sight) {
            const auto above = sys::look_at(directory_of(project_.source));
            // An unchanged parent without the source: the removal was complete.
            if (above && above->inode == state_.above_inode) return sys::posix_store().remove(links_path());
            return Error{
                ErrorKind::missing,
                fmt::format("{} and the directory above it are missing. Is it mounted?", show_text(project_.source)),
                "its removal had begun", "mount it, and repeat the same command"};
        }
        FB_TRY(check_root("source", project_.source, *sight, Pass::walk, state_.source_root));
        FB_TRY(check_target());
        FB_TRY_ASSIGN(text, sys::read_text(sys::posix_store(), links_path(), links_bytes_max));
        FB_TRY_ASSIGN(inodes, inodes_from(text, links_path()));
        FB_TRY_ASSIGN(changed, changed_while_removed(project_.source, *state_.frozen, frozen_walk(), inodes));
        if (!changed.empty())
            return Error{ErrorKind::refused,
                         fmt::format("{} was changed or added during the removal of the source", show_text(changed)),
                         "it was not removed", "move it away from there. The same command removes the rest"};
    }
    // Of the removed entries only the target's copies remain. So removal stops as soon as the target is missing.
    const auto check = [this] { return check_target(); };
    FB_TRY(check());
    FB_TRY_ASSIGN(end, runner_.verb(call_of(Pass::remove, plan_, project_), check));
    record.counts = std::move(end.counts);
    if (end.is_whole) return sys::posix_store().remove(links_path());
    return Error{ErrorKind::corrupt, "some of the source is left", "the target has all of it",
                 fmt::format("look at {}/delete.jsonl. The same command continues", reports_of(plan_, project_))};
}

Result<> Passes::begin_removal() {
    FB_TRY(check_target());
    FB_TRY(check_source());
    FrozenInodes inodes;
    FB_TRY(check_is_frozen("it is not removed", &inodes));
    // After a kill, entries added meanwhile are detected by a ctime later than all present ctimes. So these must be
    // past.
    if (state_.frozen->newest_change.seconds > now_s() + clocks_differ_s)
        return Error{ErrorKind::refused,
                     fmt::format("an entry of {} has a change in the future, on {}", show_text(project_.source),
                                 show_date(state_.frozen->newest_change.seconds)),
                     "source and target are unchanged",
                     fmt::format("find {0} -newerct @{1} lists it. Repeat the same command after that date. Or close "
                                 "the project: forebay delete {0}, and delete = false for this project in the plan",
                                 shell_words({project_.source}), now_s())};
    const auto go_on = frozen_walk().go_on;
    if (state_.frozen->newest_change.seconds >= now_s())
        runner_.log(fmt::format("{}: waits until {}, the newest change of the source", name_of(Pass::remove),
                                show_date(state_.frozen->newest_change.seconds)));
    while (state_.frozen->newest_change.seconds >= now_s()) {
        if (go_on) FB_TRY(go_on());
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    FB_TRY_ASSIGN(above, sys::look_at(directory_of(project_.source)));
    // The list comes before the state: a removal that has begun finds its list.
    FB_TRY(sys::write_text_durable(sys::posix_store(), links_path(), text_of(inodes)));
    state_.above_inode = above.inode;
    state_.is_being_removed = true;
    return save_();
}

std::string Passes::next_call(std::string_view options) const {
    return fmt::format("forebay migrate {} --project {}{}{}", shell_words({plan_.path}), project_.name,
                       options.empty() ? "" : " ", options);
}

FrozenWalk Passes::frozen_walk() const {
    return {.threads = plan_.threads == 0 ? frozen_threads_max : std::min(plan_.threads, frozen_threads_max),
            .filter = {.include = project_.include, .exclude = project_.exclude},
            .one_file_system = project_.one_file_system,
            .go_on = [this] { return runner_.go_on(); }};
}

std::chrono::milliseconds Passes::hook_time() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(plan_.hook_minutes * 60'000));
}

std::string Passes::links_path() const { return fmt::format("{}/{}.links", plan_.state, project_.name); }

}  // namespace forebay::migrate
