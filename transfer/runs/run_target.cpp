#include "transfer/runs/run_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/terminal/log.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/catalog/views.hpp"

namespace forebay::cli {

namespace {

using catalog::Version;

std::string place_of(const Version& version) {
    return version.snapshot.stream + "/" + leaf_of(version.snapshot.directory);
}

/// Adds the contents of a target directory and the directory itself.
Result<> measure(sys::Store& store, const std::string& directory, tree::Amount& amount) {
    amount.add(0);
    FB_TRY_ASSIGN(entries, store.list(directory));
    for (const auto& entry : entries) {
        if (entry.is_directory) FB_TRY(measure(store, directory + "/" + entry.name, amount));
        else amount.add(entry.size);
    }
    return {};
}

// A stream without any snapshot may be a directory of an unmounted file system.
Result<> check_no_stream_goes(const RunCopy& wish, const RunSnapshots& source, const RunSnapshots& target) {
    if (!wish.options.removes_extra || wish.options.allows_empty) return {};
    std::set<std::string> streams;
    for (const auto& [place, version] : source) streams.insert(directory_of(place));
    for (const auto& [place, version] : target)
        if (!streams.contains(directory_of(place)))
            return Error{
                ErrorKind::refused,
                fmt::format("{} has no snapshot in {}, so all snapshots of {} there would be removed",
                            show_text(wish.source), show_text(directory_of(place)), show_text(wish.target)),
                "no snapshot was changed",
                fmt::format("mount the missing source. If you want to remove them: forebay delete {}, or --allow-empty",
                            show_text(wish.target + "/" + std::string(directory_of(place))))};
    return {};
}

// Views would show another save of the step with the layout of this save.
Result<> remove_views_of(sys::Store& store, const Version& version) {
    if (version.set_aside) return {};
    const auto stream_directory = directory_of(version.snapshot.directory);
    FB_TRY(catalog::remove_views(store, stream_directory, version.snapshot.step, catalog::ViewsOf::step_and_series));
    return {};
}

/// The place of each source snapshot, by stream, step and id.
using SaveId = std::tuple<std::string, std::int64_t, std::uint64_t>;
using PlacesById = std::map<SaveId, std::string>;

SaveId id_of(const Version& version) {
    return {version.snapshot.stream, version.snapshot.step, version.head.snapshot_id};
}

PlacesById places_by_id(const RunSnapshots& snapshots) {
    PlacesById places;
    for (const auto& [place, version] : snapshots)
        if (version.readable) places.emplace(id_of(version), place);
    return places;
}

std::string save_text(const Version& version) {
    if (!version.readable) return "an unreadable save";
    return fmt::format("a save of line {}", format::name_of(version.head.lineage.line()));
}

/// Decides about the target's snapshots, one by one.
class Clearing {
public:
    Clearing(const RunCopy& wish, const catalog::HeldRunLock* held, RunCopyPlan& plan, tree::EntryLog& entry_log,
             tree::CopyCounts& counts)
        : wish_(wish),
          held_(held),
          plan_(plan),
          entry_log_(entry_log),
          counts_(counts),
          ids_(places_by_id(plan.source)) {}

    /// An unreadable manifest of the source may belong to any snapshot: then no snapshot is removed.
    void pass_over_unreadable() {
        for (const auto& [place, version] : plan_.source) {
            if (version.readable) continue;
            all_readable_ = false;
            entry_log_.add(tree::EntryEvent::failed, place,
                           "its manifest cannot be read: " + version.readable.error().what);
            plan_.kept.insert(place);
        }
    }

    Result<> clear(const std::string& place, const Version& version) {
        const auto match = plan_.source.find(place);
        const bool is_extra = match == plan_.source.end();
        if (plan_.kept.contains(place)) return {};
        if (!is_extra && version.readable && match->second.head.snapshot_id == version.head.snapshot_id) {
            plan_.kept.insert(place);
            return {};
        }
        const bool removes = wish_.options.removes_extra;
        // First, because the copy brings the save under its new name: it would exist under both names.
        const auto elsewhere = ids_.find(id_of(version));
        if (version.readable && elsewhere != ids_.end()) {
            const auto at = at_name(elsewhere->second, version);
            if (removes || at != AtName::other) return rename(place, version, elsewhere->second, at);
        }
        if (is_extra && !(removes && all_readable_)) return {};
        // A directory without a manifest is left by a killed copy. An unreadable manifest may belong to a whole
        // snapshot.
        const auto kind = version.readable ? ErrorKind::corrupt : version.readable.error().kind;
        if (kind != ErrorKind::corrupt && kind != ErrorKind::missing) {
            plan_.kept.insert(place);
            entry_log_.add(tree::EntryEvent::failed, place,
                           "the target's manifest cannot be read: " + version.readable.error().what);
            return {};
        }
        if (!removes && !version.readable && kind == ErrorKind::corrupt) return keep_damaged(place, version);
        if (!removes && version.readable) return keep_other(place, version, match->second);
        if (wish_.options.is_dry) return say(place, version, is_extra);
        return remove(place, version);
    }

private:
    Result<> keep_other(const std::string& place, const Version& version, const Version& of_source) {
        plan_.kept.insert(place);
        entry_log_.add(tree::EntryEvent::failed, place,
                       fmt::format("source and target have different saves of this step: the target has {}, the source "
                                   "has {}. A copy replaces no other save. To remove the target's: forebay delete {}",
                                   save_text(version), save_text(of_source), show_text(version.snapshot.directory)));
        return {};
    }

    // Its node files may be a whole save of a session at the target.
    Result<> keep_damaged(const std::string& place, const Version& version) {
        plan_.kept.insert(place);
        entry_log_.add(tree::EntryEvent::failed, place,
                       fmt::format("the target's snapshot stays, as its save cannot be identified. To replace it, "
                                   "forebay delete {}, then copy again: {}",
                                   show_text(version.snapshot.directory), version.readable.error().what));
        return {};
    }

    /// State of the place that the source uses for `version`. `rest` is a directory without a manifest, left by a
    /// killed copy.
    enum class AtName { nothing, rest, same_save, other };

    AtName at_name(const std::string& to, const Version& version) const {
        const auto path = wish_.target + "/" + to;
        const auto manifest = catalog::load_manifest(*wish_.store, path);
        if (manifest) return manifest->snapshot_id == version.head.snapshot_id ? AtName::same_save : AtName::other;
        const auto exists = wish_.store->exists(path);
        if (exists && !*exists) return AtName::nothing;
        return exists && manifest.error().kind == ErrorKind::missing ? AtName::rest : AtName::other;
    }

    // The source renamed it after its line. The target's copy is renamed too, because it may be the better copy.
    Result<> rename(const std::string& place, const Version& version, const std::string& to, AtName at) {
        auto& store = *wish_.store;
        const auto path = wish_.target + "/" + to;
        if (wish_.options.is_dry) {
            entry_log_.add(tree::EntryEvent::would_adjust, place, "it would be renamed to " + show_text(to));
            plan_.gone.insert(place);
            plan_.kept.insert(to);
            return {};
        }
        if (held_ != nullptr) FB_TRY(held_->check_held());
        if (at == AtName::same_save) plan_.kept.insert(to);
        if (at == AtName::same_save || at == AtName::other) return remove(place, version);
        if (at == AtName::rest) FB_TRY(catalog::discard(store, path, version.snapshot.step, version.head.snapshot_id));
        FB_TRY(remove_views_of(store, version));
        FB_TRY(store.rename(version.snapshot.directory, path));
        FB_TRY(store.sync_directory(directory_of(path)));
        plan_.kept.insert(to);
        ++counts_.adjusted;
        return {};
    }

    Result<> say(const std::string& place, const Version& version, bool is_extra) {
        entry_log_.add(tree::EntryEvent::would_remove, place, "the source has no such save of this step");
        FB_TRY(measure(*wish_.store, version.snapshot.directory, counts_.would_remove));
        if (is_extra) plan_.gone.insert(place);
        return {};
    }

    Result<> remove(const std::string& place, const Version& version) {
        if (held_ != nullptr) FB_TRY(held_->check_held());
        FB_TRY(entry_log_.taken());
        tree::Amount amount;
        FB_TRY(measure(*wish_.store, version.snapshot.directory, amount));
        FB_TRY(discard(*wish_.store, version));
        if (entry_log_.records(tree::EntryEvent::removed)) entry_log_.add(tree::EntryEvent::removed, place, "");
        counts_.removed += amount.entries;
        return {};
    }

    const RunCopy& wish_;
    const catalog::HeldRunLock* held_;
    RunCopyPlan& plan_;
    tree::EntryLog& entry_log_;
    tree::CopyCounts& counts_;
    const PlacesById ids_;
    bool all_readable_ = true;
};

}  // namespace

Result<RunSnapshots> versions_of(sys::Store& store, const std::string& run) {
    const auto streams = catalog::streams(store, run);
    if (!streams && streams.error().kind == ErrorKind::missing) return RunSnapshots{};
    if (!streams) return streams.error();
    RunSnapshots versions;
    for (const auto& stream : *streams) {
        FB_TRY_ASSIGN(heads, catalog::heads_of(store, run, stream));
        for (auto& version : heads) versions.emplace(place_of(version), std::move(version));
    }
    return versions;
}

Result<std::unique_ptr<catalog::HeldRunLock>> claim_target(const RunCopy& wish, const RunSnapshots& source) {
    FB_TRY_ASSIGN(identity, catalog::identity_of(*wish.store, wish.target));
    if (identity == 0) return std::unique_ptr<catalog::HeldRunLock>();
    std::uint32_t brought = 0;
    for (const auto& [place, version] : source) brought = std::max(brought, version.head.lineage.line().session);
    if (!wish.options.is_dry)
        return catalog::HeldRunLock::take(*wish.store, wish.target, log_to_errors(), catalog::HeldRunLock::Use::copy,
                                          wish.source, brought);
    FB_TRY(catalog::HeldRunLock::check_free(*wish.store, wish.target, log_to_errors(), wish.source));
    return std::unique_ptr<catalog::HeldRunLock>();
}

namespace {

Result<> check_target_lines(const RunCopy& wish, const RunSnapshots& source, const RunSnapshots& target) {
    if (!wish.options.removes_extra) return {};
    FB_TRY_ASSIGN(there, catalog::last_session(*wish.store, wish.target));
    if (!there) return {};  // no session has computed at the target: all of it was copied
    FB_TRY_ASSIGN(here, catalog::last_session(*wish.store, wish.source));
    if (here && here->session == there->session && here->key == there->key) return {};  // copied with its run locks
    const auto ids = places_by_id(source);
    std::vector<const Version*> own;
    for (const auto& [place, version] : target) {
        const bool is_known = version.readable && ids.contains(id_of(version));
        if (!is_known && version.head.lineage.line().session <= there->session) own.push_back(&version);
    }
    if (own.empty()) return {};
    return Error{
        ErrorKind::refused,
        fmt::format(
            "{} has {} that {} lacks, such as {} ({}), and a session wrote {} there: --delete would remove its saves",
            show_text(wish.target), show_count(own.size(), "snapshot"), show_text(wish.source),
            show_text(place_of(*own.front())), save_text(*own.front()), there->name),
        "nothing was changed",
        fmt::format("choose another target, or leave --delete out. Or forebay prune {} --line N for each line that you "
                    "do not need (forebay ls {})",
                    show_text(wish.target), show_text(wish.target))};
}

}  // namespace

Result<> check_removals(const RunCopy& wish, const RunSnapshots& source) {
    if (!wish.options.removes_extra) return {};
    FB_TRY_ASSIGN(target, versions_of(*wish.store, wish.target));
    FB_TRY(check_no_stream_goes(wish, source, target));
    return check_target_lines(wish, source, target);
}

Result<> clear_target(const RunCopy& wish, const catalog::HeldRunLock* held, RunCopyPlan& plan,
                      tree::EntryLog& entry_log, tree::CopyCounts& counts) {
    FB_TRY_ASSIGN(target, versions_of(*wish.store, wish.target));
    FB_TRY(check_no_stream_goes(wish, plan.source, target));
    FB_TRY(check_target_lines(wish, plan.source, target));
    Clearing clearing(wish, held, plan, entry_log, counts);
    clearing.pass_over_unreadable();
    // A save under two names is unreadable at its second name until the first is cleared.
    for (const bool is_readable : {true, false})
        for (const auto& [place, version] : target)
            if (static_cast<bool>(version.readable) == is_readable) FB_TRY(clearing.clear(place, version));
    return {};
}

Result<> discard(sys::Store& store, const Version& version) {
    FB_TRY(remove_views_of(store, version));
    return catalog::discard(store, version.snapshot.directory, version.snapshot.step, version.head.snapshot_id);
}

}  // namespace forebay::cli
