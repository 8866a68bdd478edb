// Builds the history of a stream in two steps. look_at_names() lists the stream's directory and reads the head of each
// manifest. history() sorts the versions into living, abandoned and foreign snapshots by all known lines. The manifests
// decide. Names like line-1.step-000310 repeat them, and marks like .line-* keep facts of removed manifests.
//
// The second half changes names: set_aside() and name_by_line() make them agree with the manifests. Several agents may
// do this at once, so a rename of a missing name is no error.

#include "path/catalog/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/views.hpp"

namespace forebay::catalog {

namespace {

using format::Line;
using format::LineStart;

Result<Version> look_at(sys::Store& store, const Snapshot& snapshot, bool set_aside) {
    Version version{.snapshot = snapshot, .set_aside = set_aside};
    auto head = load_manifest_head(store, snapshot.directory);
    // Storage that fails now proves nothing about the snapshot.
    if (!head && head.error().kind == ErrorKind::retry) return head.error();
    if (head && head->step != snapshot.step)
        head = Error{ErrorKind::corrupt,
                     fmt::format("{} is misplaced: it holds the manifest of step {}", snapshot.directory, head->step),
                     "", fmt::format("give {} its own name back. If it is a copy, remove it", snapshot.directory)};
    if (head) version.head = std::move(*head);
    else version.readable = head.error();
    version.head.step = snapshot.step;
    return version;
}

// The error for an entry with the name of a snapshot's directory that is no directory.
Error not_a_directory(const sys::Entry& entry, const Snapshot& snapshot) {
    if (entry.is_link) return leads_nowhere(snapshot.directory);
    return {ErrorKind::corrupt, fmt::format("{} is a file, and a snapshot is a directory", snapshot.directory), "",
            "bring the directory back from a copy of the run, or move the file away"};
}

Version unreadable(const Snapshot& snapshot, bool set_aside, Error why) {
    Version version{.snapshot = snapshot, .set_aside = set_aside, .readable = std::move(why)};
    version.head.step = snapshot.step;
    return version;
}

// Adds the snapshot of a directory, unless it was removed after the listing.
Result<> add_version(sys::Store& store, const Snapshot& snapshot, bool set_aside, std::vector<Version>& versions) {
    FB_TRY_ASSIGN(version, look_at(store, snapshot, set_aside));
    // A snapshot that still has files has lost its manifest: it is damaged.
    if (!version.readable && version.readable.error().kind == ErrorKind::missing) {
        FB_TRY_ASSIGN(removed, is_removed(store, snapshot.directory, 0));
        if (removed) return {};
    }
    versions.push_back(std::move(version));
    return {};
}

// One save has one directory. A second directory of the same save is somebody's copy.
Result<> refuse_copies(sys::Store& store, std::vector<Version>& versions) {
    std::map<std::pair<std::int64_t, std::uint64_t>, const Version*> by_save;
    const auto look_at_all = [&](bool set_aside) -> Result<> {
        for (auto& version : versions) {
            if (!version.readable || version.head.snapshot_id == 0 || version.set_aside != set_aside) continue;
            const auto [first, is_first] = by_save.try_emplace({version.head.step, version.head.snapshot_id}, &version);
            if (is_first) continue;
            const auto directory = version.snapshot.directory, other = first->second->snapshot.directory;
            // Its removal would remove the bytes of both names.
            FB_TRY_ASSIGN(same, sys::second_name(store, directory, [&](const sys::Entry& entry) {
                              return entry.name == leaf_of(other);
                          }));
            version =
                unreadable(version.snapshot, set_aside,
                           same ? two_names(directory, other)
                                : Error{ErrorKind::corrupt,
                                        fmt::format("{} is misplaced: it holds the same save as {}", directory, other),
                                        "", fmt::format("if it is a copy, remove {}", directory)});
        }
        return {};
    };
    // Directories with their own names come first: if both exist, the directory aside is the copy.
    FB_TRY(look_at_all(false));
    return look_at_all(true);
}

// The facts from the names in a stream's directory.
struct Names {
    std::vector<Version> versions;
    std::vector<Version> replaced;  // until recover runs, perhaps the only snapshots of their lines
    std::vector<LineStart> starts;
    std::set<Line> pruned_above;  // the lines of `starts` that never had a snapshot
    std::set<Line> dropped;
};

Result<Names> look_at_names(sys::Store& store, const std::string& run, const std::string& stream) {
    FB_TRY_ASSIGN(entries, list_stream(store, run, stream));
    Names names;
    for (const auto& entry : entries) {
        const auto step = step_of(entry.name);
        const auto aside = aside_of(entry.name);
        if (step || aside) {
            const Snapshot snapshot{stream, step ? *step : aside->step,
                                    fmt::format("{}/{}/{}", run, stream, entry.name)};
            if (entry.is_directory) FB_TRY(add_version(store, snapshot, aside.has_value(), names.versions));
            else names.versions.push_back(unreadable(snapshot, aside.has_value(), not_a_directory(entry, snapshot)));
        } else if (const auto left = leftover_of(entry.name);
                   entry.is_directory && left && left->kind == Leftover::Kind::old) {
            FB_TRY(
                add_version(store, {stream, left->step, run + "/" + stream + "/" + entry.name}, false, names.replaced));
        } else if (const auto start = start_of(entry.name)) {
            names.starts.push_back(*start);
            if (entry.size == 0) names.pruned_above.insert(start->line);
        } else if (const auto dropped = dropped_of(entry.name)) {
            names.dropped.insert(*dropped);
        }
    }
    FB_TRY(refuse_copies(store, names.versions));
    return names;
}

// Two agents may rename the same directory; the second finds nothing to do.
Result<> passing_over_missing(const Result<>& done) {
    return done || done.error().kind != ErrorKind::missing ? done : Result<>{};
}

Result<> give_name_back(sys::Store& store, const std::string& run, const Version& version) {
    const auto stream_directory = run + "/" + version.snapshot.stream;
    const auto own = stream_directory + "/" + step_name(version.snapshot.step);
    FB_TRY_ASSIGN(taken, store.exists(own));
    if (taken) return {};
    FB_TRY(passing_over_missing(store.rename(version.snapshot.directory, own)));
    return store.sync_directory(stream_directory);
}

Result<> make_named(sys::Store& store, const std::string& stream_directory, const std::string& name) {
    FB_TRY_ASSIGN(file, store.open(stream_directory + "/" + name, sys::Access::create));
    FB_TRY(file->close());
    return store.sync_directory(stream_directory);
}

}  // namespace

bool History::abandons(const Line& line, std::int64_t step) const {
    return std::ranges::find(dropped, line) != dropped.end() ||
           std::ranges::any_of(starts, [&](const LineStart& start) { return format::abandons(start, line, step); });
}

bool History::was_pruned_back() const {
    return living.empty() && pruned_above.session != 0 && std::ranges::none_of(abandoned, [&](const Version& version) {
               return version.head.lineage.line() >= pruned_above;
           });
}

Line History::latest_line() const {
    const auto last = std::ranges::max_element(starts, {}, &LineStart::line);
    return last == starts.end() ? Line{} : last->line;
}

std::uint32_t History::last_session() const {
    auto last = latest_line().session;
    for (const auto& line : dropped) last = std::max(last, line.session);
    return last;
}

Result<format::ManifestHead> load_manifest_head(sys::Store& store, const std::string& directory) {
    const auto path = directory + "/" + manifest_name;
    FB_TRY_ASSIGN(file, store.open(path, sys::Access::read));
    FB_TRY_ASSIGN(size, file->size());
    std::string text(std::min<std::uint64_t>(size, format::manifest_head_bytes_max), '\0');
    FB_TRY(file->read(0, std::as_writable_bytes(std::span(text))));
    return format::decode_manifest_head(text, path);
}

Result<std::vector<Version>> heads_of(sys::Store& store, const std::string& run, const std::string& stream) {
    FB_TRY_ASSIGN(names, look_at_names(store, run, stream));
    return std::move(names.versions);
}

namespace {

// Results of analyses follow the lines of their source stream. That stream may go back with or without analyses.
Result<> add_source(sys::Store& store, const std::string& run, const std::string& stream,
                    const std::vector<Version>& versions, History& history) {
    const auto source = describe::source_stream(stream);
    if (source.empty()) return {};
    FB_TRY_ASSIGN(exists, store.exists(run + "/" + source));
    if (!exists) return {};
    bool is_result = false;
    for (const auto& version : versions) {
        if (!version.readable) continue;
        const auto manifest = load_manifest(store, version.snapshot.directory);
        const bool says_nothing = !manifest && (manifest.error().kind == ErrorKind::corrupt ||  // and it never will
                                                manifest.error().kind == ErrorKind::missing);   // removed meanwhile
        if (says_nothing) continue;
        FB_TRY(manifest);
        is_result = describe::is_result(manifest->schema);
        break;
    }
    if (!is_result) return {};
    const auto lines = catalog::history(store, run, source);
    if (!lines) return lines.error().kind == ErrorKind::missing ? Result<>{} : lines.error();
    history.starts.insert(history.starts.end(), lines->starts.begin(), lines->starts.end());
    history.dropped.insert(history.dropped.end(), lines->dropped.begin(), lines->dropped.end());
    return {};
}

}  // namespace

Result<History> history(sys::Store& store, const std::string& run, const std::string& stream,
                        const std::vector<format::Lineage>& also) {
    FB_TRY_ASSIGN(run_id, identity_of(store, run));
    auto looked = look_at_names(store, run, stream);
    // Nothing is at the target yet, but snapshots elsewhere may still abandon.
    const bool has_none = !looked && looked.error().kind == ErrorKind::missing && !also.empty();
    if (!looked && !has_none) return looked.error();
    auto names = has_none ? Names() : std::move(*looked);
    History history;
    const auto is_foreign = [run_id](const Version& version) {
        // A snapshot or a run without identity (0) is never foreign.
        const auto own = version.head.lineage.run_id;
        return own != 0 && run_id != 0 && own != run_id;
    };
    history.dropped.assign(names.dropped.begin(), names.dropped.end());
    const auto add = [&](const LineStart& start) {
        if (std::ranges::find(history.dropped, start.line) == history.dropped.end()) history.starts.push_back(start);
    };
    std::ranges::for_each(names.starts, add);
    history.marked = history.starts;
    for (const auto& start : history.marked)
        if (names.pruned_above.contains(start.line)) history.pruned_above = std::max(history.pruned_above, start.line);
    for (const auto& lineage : also) std::ranges::for_each(lineage.lines, add);
    FB_TRY(add_source(store, run, stream, names.versions, history));
    std::erase_if(history.starts, [&](const LineStart& start) {
        return std::ranges::find(history.dropped, start.line) != history.dropped.end();
    });
    for (const auto* list : {&names.versions, &names.replaced})
        for (const auto& version : *list)
            if (!is_foreign(version)) std::ranges::for_each(version.head.lineage.lines, add);
    const bool all_readable =
        std::ranges::all_of(names.versions, [](const Version& version) { return static_cast<bool>(version.readable); });
    for (auto& version : names.versions) {
        // An unreadable manifest may be the reason for a name aside, so the name counts.
        const bool abandoned = (version.readable && history.abandons(version.head.lineage.line(), version.head.step)) ||
                               (version.set_aside && !all_readable);
        auto& list = is_foreign(version) ? history.foreign : abandoned ? history.abandoned : history.living;
        list.push_back(std::move(version));
    }
    // By the numbers of lines and saves, never by clocks: clocks of hosts differ.
    const auto order = [](const Version& version) {
        return std::tuple(version.head.step, version.head.lineage.line(), version.head.lineage.save);
    };
    std::ranges::sort(history.living, std::ranges::greater{}, order);
    std::ranges::sort(history.foreign, std::ranges::greater{}, order);
    std::ranges::sort(history.abandoned, std::ranges::greater{}, [](const Version& version) {
        return std::tuple(version.head.lineage.line(), version.head.step, version.head.lineage.save);
    });
    return history;
}

Result<std::vector<Snapshot>> living_snapshots(sys::Store& store, const std::string& run, const std::string& stream) {
    FB_TRY_ASSIGN(all, history(store, run, stream));
    std::vector<Snapshot> living;
    for (const auto& version : all.living) living.push_back(version.snapshot);
    return living;
}

Result<format::Lineage> lineage_to_join(sys::Store& store, const std::string& run, const std::string& stream) {
    FB_TRY_ASSIGN(run_id, identity_of(store, run));
    format::Lineage lineage{.run_id = run_id};
    const auto there = history(store, run, stream);
    if (!there && there.error().kind == ErrorKind::missing) {
        FB_TRY(check_identity(store, run, run_id));  // the whole run may have been removed with its stream
        return lineage;
    }
    if (!there) return there.error();
    if (!there->living.empty()) lineage.lines = there->living.front().head.lineage.lines;
    return lineage;
}

Result<> adopt(sys::Store& store, const std::string& run, const Snapshot& snapshot) {
    FB_TRY_ASSIGN(manifest, load_manifest(store, snapshot.directory));
    FB_TRY_ASSIGN(lineage, lineage_to_join(store, run, snapshot.stream));
    manifest.lineage = std::move(lineage);
    return sys::write_text_durable(store, snapshot.directory + "/" + manifest_name, format::encode_manifest(manifest));
}

namespace {

// A copy may bring a save twice: under the name of its line and under its step. This removes the second. Between our
// look and our rename another agent may commit a later save here: then that save gets its name back.
Result<> discard_twin(sys::Store& store, const std::string& directory, std::int64_t step, const format::Save& save) {
    const auto stream_directory = directory_of(directory);
    const auto seen = load_manifest_head(store, directory);
    if (seen && seen->snapshot_id == save.snapshot_id) {
        const auto twin = stream_directory + "/" + leftover_name({step, save.snapshot_id, Leftover::Kind::old});
        const auto renamed = store.rename(directory, twin);
        if (!renamed) return passing_over_missing(renamed);
        FB_TRY_ASSIGN(moved, load_manifest_head(store, twin));
        return moved.snapshot_id == save.snapshot_id ? discard(store, twin, step, save.snapshot_id)
                                                     : store.rename(twin, directory);
    }
    return store.sync_directory(stream_directory);
}

}  // namespace

Result<> set_aside(sys::Store& store, const std::string& directory, std::int64_t step, const format::Save& save) {
    const auto stream_directory = directory_of(directory);
    const auto aside = stream_directory + "/" + aside_name(save.line, step);
    // The views refer to the directory by its name, so they go before the rename.
    FB_TRY_ASSIGN(views, remove_views(store, stream_directory, step, ViewsOf::step_and_series));
    if (!views.views.empty()) FB_TRY(store.sync_directory(stream_directory));
    FB_TRY_ASSIGN(has_both, sys::second_name(store, directory,
                                             [&](const sys::Entry& entry) { return entry.name == leaf_of(aside); }));
    // After a cut rename the directory has its new name too, and only the old name must become free.
    const auto leftover = stream_directory + "/" + leftover_name({step, save.snapshot_id, Leftover::Kind::old});
    auto renamed = store.rename(directory, has_both ? leftover : aside);
    if (!renamed && renamed.error().kind == ErrorKind::refused && !has_both) {
        // The line saved this step twice, and the other of these saves already has the name.
        const auto there = load_manifest_head(store, aside);
        // The save in the way is unknown, and its node files may be whole, so nothing is removed.
        if (!there)
            return with_context(there.error(),
                                fmt::format("{} is in the way of another save of line {}: {}", aside,
                                            format::name_of(save.line), there.error().what),
                                "both directories", "forebay recover " + directory_of(stream_directory));
        // Another agent set it aside just now and `directory` holds a newer save; or the same save is there twice.
        if (there->snapshot_id == save.snapshot_id) return discard_twin(store, directory, step, save);
        const bool later = format::is_later(there->which_save(), save);
        FB_TRY(discard(store, later ? directory : aside, step, later ? save.snapshot_id : there->snapshot_id));
        renamed = later ? Result<>{} : store.rename(directory, aside);
    }
    FB_TRY(passing_over_missing(renamed));
    return store.sync_directory(stream_directory);
}

Result<bool> name_by_line(sys::Store& store, const std::string& run, const History& history) {
    bool renamed = false;
    for (const auto& version : history.abandoned) {
        if (version.set_aside || !version.readable) continue;
        FB_TRY(set_aside(store, version.snapshot.directory, version.head.step, version.head.which_save()));
        renamed = true;
    }
    for (const auto& version : history.living) {
        if (!version.set_aside) continue;
        FB_TRY(give_name_back(store, run, version));
        renamed = true;
    }
    return renamed;
}

Result<> mark_start(sys::Store& store, const std::string& stream_directory, const LineStart& start) {
    return make_named(store, stream_directory, start_name(start));
}

Result<> mark_removed(sys::Store& store, const std::string& stream_directory, const LineStart& start) {
    return sys::write_text_durable(store, stream_directory + "/" + start_name(start), "removed\n");
}

Result<> mark_dropped(sys::Store& store, const std::string& stream_directory, const Line& line) {
    return make_named(store, stream_directory, dropped_name(line));
}

}  // namespace forebay::catalog
