#include "transfer/runs/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/format/run_identity.hpp"
#include "core/sys/store_below.hpp"
#include "core/sys/tree.hpp"
#include "core/sys/tree_place.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/views.hpp"
#include "transfer/runs/run_places.hpp"
#include "transfer/runs/run_target.hpp"
#include "transfer/runs/views.hpp"

namespace forebay::cli {

namespace {

using catalog::Version;

// Manifests of this run only: other directories in it may have files of that name, even whole runs.
constexpr std::array each_manifest{"/*/step-*/manifest.json", "/*/line-*/manifest.json"};

/// Locks the target against other copies: they would take unfinished files of this copy for leftovers. Null if the
/// target does not exist yet, and in a bucket.
Result<std::unique_ptr<sys::Folder>> lock_target(const std::string& target) {
    if (sys::is_far(target)) return std::unique_ptr<sys::Folder>();
    auto folder = sys::open_posix_folder(target);
    if (!folder && folder.error().kind == ErrorKind::missing) return std::unique_ptr<sys::Folder>();
    if (!folder) return folder.error();
    FB_TRY_ASSIGN(is_ours, (*folder)->lock_alone());
    if (is_ours) return folder;
    return Error{ErrorKind::refused, fmt::format("another process copies to {}", show_text(target)),
                 "this command changed no snapshot", "wait for it"};
}

/// The source's identity if the target has none; 0 if both are equal.
Result<std::uint64_t> missing_identity(const RunCopy& wish) {
    FB_TRY_ASSIGN(source, catalog::identity_of(*wish.store, wish.source));
    FB_TRY_ASSIGN(target, catalog::identity_of(*wish.store, wish.target));
    if (target == 0) return source;
    if (target == source) return std::uint64_t{0};
    return Error{ErrorKind::refused,
                 fmt::format("{} is another run than {}", show_text(wish.target), show_text(wish.source)),
                 "nothing was changed", "choose another target. forebay adopt takes single snapshots into a run"};
}

// Copies single files before or after the main copy. The main copy counts all entries and reports directories.
Result<> copy_files(const RunCopy& wish, tree::TreeCopyOptions options, const std::set<std::string>& paths,
                    tree::EntryLog& entry_log, tree::CopyCounts& counts) {
    std::string list;
    for (const auto& path : paths) list += path + '\0';
    FB_TRY_ASSIGN(wished, tree::path_list(list, true));
    options.wished = wished;
    options.removes_extra = false;
    options.is_run = true;
    options.lead = nullptr;
    options.watch = {};
    options.manifest = [&](const tree::Unkept& unkept) {
        return paths.contains(unkept.path) && wish.options.manifest ? wish.options.manifest(unkept) : Result<>();
    };
    tree::EntryLog of_files(
        [&](const tree::LogEntry& log_entry) {
            if (paths.contains(log_entry.path) || is_error(log_entry.kind))
                entry_log.add(log_entry.kind, log_entry.path, log_entry.why);
            return Result<>();
        },
        entry_log.recorded());
    tree::CopyCounts own;
    const auto copied = tree::copy_tree(wish.source, wish.target, options, of_files, own);
    for (const auto count : {&tree::CopyCounts::copied, &tree::CopyCounts::linked, &tree::CopyCounts::adjusted,
                             &tree::CopyCounts::equal, &tree::CopyCounts::bytes, &tree::CopyCounts::resumed_bytes,
                             &tree::CopyCounts::laid_out, &tree::CopyCounts::fewer_stripes})
        counts.*count += own.*count;
    return copied;
}

/// Keeps other processes from the target: `lock` excludes copies, `claim` excludes sessions. Both are null in a dry
/// run; `lock` is null in a bucket.
struct TargetHold {
    std::unique_ptr<sys::Folder> lock;
    std::unique_ptr<catalog::HeldRunLock> claim;
};

Result<TargetHold> hold_target(const RunCopy& wish, const RunSnapshots& source, std::uint64_t identity,
                               tree::TreeCopyOptions& options, tree::EntryLog& entry_log, tree::CopyCounts& counts) {
    TargetHold hold;
    if (!options.is_dry) {
        FB_TRY_ASSIGN(lock, lock_target(wish.target));
        hold.lock = std::move(lock);
    }
    // Before any change. A target without an identity has no sessions to exclude yet.
    FB_TRY_ASSIGN(claim, claim_target(wish, source));
    hold.claim = std::move(claim);
    if (options.is_dry) return hold;
    if (identity != 0) {  // first, so that a killed copy is known as a copy of this run
        const auto name = catalog::own_directory + ("/" + format::name_of_identity(identity));
        auto of_identity = wish.options;
        of_identity.is_locked = hold.lock != nullptr;
        FB_TRY(copy_files(wish, of_identity, {name}, entry_log, counts));
        options.filter.exclude.push_back(name);
    }
    if (!hold.lock) {  // another copy that came in between holds it, or is refused now
        FB_TRY_ASSIGN(lock, lock_target(wish.target));
        hold.lock = std::move(lock);
    }
    if (!hold.claim) {
        FB_TRY_ASSIGN(claim_now, claim_target(wish, source));
        hold.claim = std::move(claim_now);
    }
    options.is_locked = hold.lock != nullptr;
    return hold;
}

bool is_of_source(const RunCopyPlan& plan, const std::string& place, std::uint64_t snapshot_id) {
    const auto match = plan.source.find(place);
    return match != plan.source.end() && match->second.head.snapshot_id == snapshot_id;
}

// An agent of an ended session may have committed a snapshot there meanwhile. Its manifest must stay.
Result<std::vector<std::string>> free_places(const RunCopy& wish, const RunCopyPlan& plan,
                                             const std::vector<std::string>& places, tree::EntryLog& entry_log) {
    std::vector<std::string> free;
    for (const auto& place : places) {
        const auto there = catalog::load_manifest(*wish.store, wish.target + "/" + place);
        if (!there || is_of_source(plan, place, there->snapshot_id)) free.push_back(place);
        else
            entry_log.add(tree::EntryEvent::failed, place,
                          "another save of the step was committed there during the copy");
    }
    return free;
}

// Excludes snapshots that stay, and views that would show wrong bytes of them.
Result<> leave_out(const RunCopy& wish, const RunCopyPlan& plan, tree::EntryFilter& filter, tree::EntryLog& entry_log) {
    OtherViews views(*wish.store, wish.source, wish.target, filter);
    for (const auto& place : plan.gone) filter.exclude.push_back(place);
    for (const auto& place : plan.kept) {
        filter.exclude.push_back(place);
        const auto match = plan.source.find(place);
        if (match == plan.source.end()) continue;
        FB_TRY(views.leave_out_if_other(match->second, place));
    }
    views.tell(entry_log);
    return {};
}

// Snapshots that existed before their files were copied, and with all files copied. If some errors are unknown, none.
std::vector<std::string> whole_places(const RunCopyPlan& plan, const tree::EntryLog& entry_log,
                                      tree::CannotKeep cannot_keep) {
    std::set<std::string> lacking;
    std::uint64_t known = 0;
    for (const auto& log_entry : entry_log.first()) {
        const bool is_refused = log_entry.kind == tree::EntryEvent::not_kept && cannot_keep == tree::CannotKeep::refuse;
        if (!is_error(log_entry.kind) && log_entry.kind != tree::EntryEvent::released && !is_refused) continue;
        const auto stream = log_entry.path.find('/');
        lacking.insert(
            log_entry.path.substr(0, log_entry.path.find('/', stream == std::string::npos ? stream : stream + 1)));
        known += tree::is_error(log_entry.kind) ? 1 : 0;
    }
    std::vector<std::string> places;
    if (known == entry_log.errors() && entry_log.taken())
        for (const auto& [place, version] : plan.source)
            if (!lacking.contains(place) && !plan.kept.contains(place)) places.push_back(place);
    return places;
}

Result<> read_back(const RunCopy& wish, const RunCopyPlan& plan, tree::EntryLog& entry_log, RunCopied& copied) {
    auto& store = *wish.store;
    FB_TRY_ASSIGN(target, versions_of(store, wish.target));
    for (const auto& [place, version] : target) {
        if (!plan.source.contains(place)) continue;
        if (version.readable && !is_of_source(plan, place, version.head.snapshot_id)) continue;  // reported before
        const auto verified = catalog::verify(store, version.snapshot, wish.watch_verify);
        if (verified && verified->damage.empty()) {
            ++copied.snapshots;
            copied.verified_bytes += verified->bytes;
            continue;
        }
        FB_TRY_ASSIGN(is_gone, catalog::is_removed(store, version.snapshot.directory, version.head.snapshot_id));
        if (is_gone) continue;
        const auto* const state = verified ? "is damaged" : "cannot be checked";
        const auto why = verified ? verified->damage.front().text : verified.error().what;
        if (plan.kept.contains(place)) {
            entry_log.add(tree::EntryEvent::failed, place,
                          fmt::format("the target's older copy {} and was left unchanged: {}", state, why));
            continue;
        }
        FB_TRY(discard(store, version));
        entry_log.add(tree::EntryEvent::failed, place,
                      fmt::format("after the copy it {}, and was removed again: {}", state, why));
    }
    if (entry_log.has_errors()) return {};
    for (const auto& [place, version] : plan.source) {  // a pattern for a stream's name may match another stream
        if (target.contains(place)) continue;
        FB_TRY_ASSIGN(is_gone, catalog::is_removed(store, version.snapshot.directory, version.head.snapshot_id));
        entry_log.add(is_gone ? tree::EntryEvent::vanished : tree::EntryEvent::failed, place,
                      is_gone ? "the run has removed it" : "it did not arrive at the target");
    }
    return {};
}

// Directories of steps without a manifest, also of abandoned steps.
Result<std::set<std::string>> unnamed_steps(sys::Store& store, const std::string& run) {
    std::set<std::string> steps;
    const auto streams = catalog::streams(store, run);
    if (!streams && streams.error().kind == ErrorKind::missing) return steps;
    if (!streams) return streams.error();
    for (const auto& stream : *streams) {
        FB_TRY_ASSIGN(entries, catalog::list_stream(store, run, stream));
        for (const auto& entry : entries) {
            if (!entry.is_directory || (!catalog::step_of(entry.name) && !catalog::aside_of(entry.name))) continue;
            const auto directory = run + "/" + stream + "/" + entry.name;
            FB_TRY_ASSIGN(has_manifest, store.exists(directory + "/" + catalog::manifest_name));
            if (!has_manifest) steps.insert(directory);
        }
    }
    return steps;
}

// If the source removed a snapshot meanwhile, its manifest never came. Directories from before the copy stay.
Result<> remove_unnamed(sys::Store& store, const std::string& run, const std::set<std::string>& before) {
    FB_TRY_ASSIGN(steps, unnamed_steps(store, run));
    for (const auto& directory : steps) {
        if (before.contains(directory)) continue;
        const auto aside = catalog::aside_of(leaf_of(directory));
        FB_TRY(catalog::discard(store, directory, aside ? aside->step : *catalog::step_of(leaf_of(directory)), 0));
    }
    return {};
}

}  // namespace

Result<bool> is_run(const std::string& path) {
    const auto root = sys::open_tree(path);
    const auto own = root ? (*root)->open_folder(catalog::own_directory) : root.error();
    const bool is_none = !own && (own.error().kind == ErrorKind::missing || own.error().kind == ErrorKind::refused);
    if (is_none) return false;
    FB_TRY(own);
    bool has_identity = false;
    FB_TRY((*own)->list([&](std::span<const sys::NamedEntry> names) -> Result<> {
        for (const auto& entry : names) has_identity = has_identity || format::identity_in(entry.name);
        return {};
    }));
    return has_identity;
}

Result<std::uint64_t> run_identity(const std::string& path) { return catalog::identity_of(sys::posix_store(), path); }

Result<RunCopied> copy_run(const RunCopy& asked, tree::EntryLog& entry_log, tree::CopyCounts& counts) {
    RunCopied copied;
    FB_TRY(check_run_places(asked.source, asked.target));
    const auto store = sys::open_target_store_below({asked.source, asked.target});
    auto wish = asked;
    wish.store = store.get();
    FB_TRY_ASSIGN(identity, missing_identity(wish));
    RunCopyPlan plan;
    FB_TRY_ASSIGN(source, versions_of(*store, wish.source));
    plan.source = std::move(source);
    auto options = wish.options;
    options.is_run = true;
    for (const char* behind : {"/forebay/sessions", "/.*.new", "/.stop", "/.save", "/.continue", "/*/.step-*"})
        options.filter.exclude.emplace_back(behind);
    FB_TRY(check_removals(wish, plan.source));
    FB_TRY_ASSIGN(hold, hold_target(wish, plan.source, identity, options, entry_log, counts));
    FB_TRY_ASSIGN(steps, unnamed_steps(*store, wish.target));
    plan.unnamed_before = std::move(steps);
    FB_TRY(clear_target(wish, hold.claim.get(), plan, entry_log, counts));
    FB_TRY(leave_out(wish, plan, options.filter, entry_log));
    if (options.is_dry) {
        options.filter.count_uses();
        FB_TRY(tree::copy_tree(wish.source, wish.target, options, entry_log, counts));
        return copied;
    }
    // Manifests come last: until then no reader takes a half copied snapshot for a whole one.
    auto without_manifests = options;
    for (const auto* manifest : each_manifest) without_manifests.filter.exclude.emplace_back(manifest);
    without_manifests.filter.count_uses();
    FB_TRY(tree::copy_tree(wish.source, wish.target, without_manifests, entry_log, counts));
    std::set<std::string> manifests;
    FB_TRY(hold.claim ? hold.claim->check_held() : Result<>());
    FB_TRY_ASSIGN(places, free_places(wish, plan, whole_places(plan, entry_log, options.cannot_keep), entry_log));
    for (const auto& place : places) manifests.insert(place + "/" + catalog::manifest_name);
    FB_TRY(copy_files(wish, options, manifests, entry_log, counts));
    FB_TRY(remove_unnamed(*store, wish.target, plan.unnamed_before));
    FB_TRY(read_back(wish, plan, entry_log, copied));
    return copied;
}

}  // namespace forebay::cli
