#include "cli/tree_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/path.hpp"
#include "base/show_text.hpp"
#include "base/try.hpp"
#include "catalog/history.hpp"
#include "catalog/names.hpp"
#include "catalog/run.hpp"
#include "sys/store.hpp"
#include "sys/target_store.hpp"

namespace forebay::cli {

namespace {

using catalog::Version;
// By "STREAM/step-000120".
using Versions = std::map<std::string, Version>;

constexpr const char* each_manifest = "*/manifest.json";

std::string place_of(const Version& version) {
    return version.snapshot.stream + "/" + leaf_of(version.snapshot.directory);
}

// All that have a manifest, the abandoned ones too. None where the run is not there.
Result<Versions> versions_of(const std::string& run) {
    auto& store = sys::target_store();
    const auto streams = catalog::streams(store, run);
    if (!streams && streams.error().kind == ErrorKind::missing) return Versions{};
    if (!streams) return streams.error();
    Versions versions;
    for (const auto& stream : *streams) {
        FB_TRY_ASSIGN(heads, catalog::heads_of(store, run, stream));
        for (auto& version : heads) versions.emplace(place_of(version), std::move(version));
    }
    return versions;
}

Result<> check_identities(const RunCopy& wish) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(source, catalog::identity_of(store, wish.source));
    FB_TRY_ASSIGN(target, catalog::identity_of(store, wish.target));
    if (target == 0 || target == source) return {};
    return Error{ErrorKind::refused,
                 fmt::format("{} is another run than {}", show_text(wish.target), show_text(wish.source)),
                 "nothing was changed", "another target; forebay adopt takes single snapshots into a run"};
}

Result<> discard(const Version& version) {
    return catalog::discard(sys::target_store(), version.snapshot.directory, version.snapshot.step,
                            version.head.snapshot_id);
}

// A snapshot of the target under whose name the source has another one must not be seen while its files are replaced.
// What both have is left alone: a snapshot never changes, and the target's copy may be the better one. Their places go
// to `kept`.
Result<> clear_target(const RunCopy& wish, const Versions& source, std::set<std::string>& kept, tree::Remarks& remarks,
                      tree::CopyCounts& counts) {
    FB_TRY_ASSIGN(target, versions_of(wish.target));
    bool all_readable = true;
    for (const auto& [place, version] : source) {
        if (version.readable) continue;
        all_readable = false;
        remarks.add(tree::RemarkKind::failed, place, "its manifest cannot be read: " + version.readable.error().what);
        kept.insert(place);
    }
    for (const auto& [place, version] : target) {
        const auto found = source.find(place);
        if (kept.contains(place) || (found == source.end() && !all_readable)) continue;
        const bool is_same = found != source.end() && found->second.head.snapshot_id == version.head.snapshot_id;
        if (is_same) kept.insert(place);
        if (is_same || (found == source.end() && !wish.options.removes_extra)) continue;
        if (!version.readable && version.readable.error().kind == ErrorKind::retry) {  // it may be whole
            kept.insert(place);
            remarks.add(tree::RemarkKind::failed, place,
                        "the target's manifest cannot be read: " + version.readable.error().what);
            continue;
        }
        FB_TRY(discard(version));
        ++counts.removed;
    }
    return {};
}

// Of snapshots that were there before their files were copied, and of which all were. Where not every remark is known,
// of none.
Result<tree::WishedNames> manifests_of(const Versions& source, const std::set<std::string>& kept,
                                       const tree::Remarks& remarks) {
    std::set<std::string> lacking;
    std::uint64_t known = 0;
    for (const auto& remark : remarks.first()) {
        const auto stream = remark.path.find('/');
        lacking.insert(remark.path.substr(0, remark.path.find('/', stream == std::string::npos ? stream : stream + 1)));
        known += tree::is_error(remark.kind) ? 1 : 0;
    }
    std::string list;
    if (known == remarks.errors() && remarks.taken())
        for (const auto& [place, version] : source)
            if (!lacking.contains(place) && !kept.contains(place)) list += place + "/" + catalog::manifest_name + '\0';
    return tree::wished_names(list, true);
}

Result<> read_back(const RunCopy& wish, const Versions& source, const std::set<std::string>& kept,
                   tree::Remarks& remarks, RunCopied& copied) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(target, versions_of(wish.target));
    for (const auto& [place, version] : target) {
        if (!source.contains(place)) continue;
        const auto verified = catalog::verify(store, version.snapshot, wish.watch_verify);
        if (verified && verified->damage.empty()) {
            ++copied.snapshots;
            copied.verified_bytes += verified->bytes;
            continue;
        }
        FB_TRY_ASSIGN(is_gone, catalog::is_removed(store, version.snapshot.directory, version.head.snapshot_id));
        if (is_gone) continue;
        const auto why = verified ? verified->damage.front().text : verified.error().what;
        if (kept.contains(place)) {
            remarks.add(
                tree::RemarkKind::failed, place,
                fmt::format("the target's copy, which was there before, is damaged and was left as it is: {}", why));
            continue;
        }
        FB_TRY(discard(version));
        remarks.add(tree::RemarkKind::failed, place,
                    fmt::format("read back it is damaged, and was taken away again: {}", why));
    }
    return {};
}

// Directories of steps without a manifest.
Result<std::set<std::string>> unnamed_steps(const std::string& run) {
    auto& store = sys::target_store();
    std::set<std::string> steps;
    const auto streams = catalog::streams(store, run);
    if (!streams && streams.error().kind == ErrorKind::missing) return steps;
    if (!streams) return streams.error();
    for (const auto& stream : *streams) {
        FB_TRY_ASSIGN(snapshots, catalog::snapshots(store, run, stream));
        for (const auto& snapshot : snapshots) {
            FB_TRY_ASSIGN(has_manifest, store.exists(snapshot.directory + "/" + catalog::manifest_name));
            if (!has_manifest) steps.insert(snapshot.directory);
        }
    }
    return steps;
}

// Of a snapshot that the source removed meanwhile the manifest never came. What lay there before is left alone.
Result<> remove_unnamed(const std::string& run, const std::set<std::string>& before) {
    FB_TRY_ASSIGN(steps, unnamed_steps(run));
    for (const auto& directory : steps)
        if (!before.contains(directory))
            FB_TRY(
                catalog::discard(sys::target_store(), directory, catalog::step_of(leaf_of(directory)).value_or(0), 0));
    return {};
}

}  // namespace

Result<bool> is_run(const std::string& path) {
    FB_TRY_ASSIGN(identity, catalog::identity_of(sys::target_store(), path));
    return identity != 0;
}

Result<RunCopied> copy_run(const RunCopy& wish, tree::Remarks& remarks, tree::CopyCounts& counts) {
    RunCopied copied;
    FB_TRY(check_identities(wish));
    FB_TRY_ASSIGN(source, versions_of(wish.source));
    auto options = wish.options;
    for (const char* behind : {"forebay/sessions", ".*.new", ".stop", ".save", ".continue", "*/.step-*"})
        options.filter.exclude.emplace_back(behind);
    if (options.is_dry) {
        FB_TRY(tree::copy_tree(wish.source, wish.target, options, remarks, counts));
        return copied;
    }
    std::set<std::string> kept;
    FB_TRY_ASSIGN(unnamed_before, unnamed_steps(wish.target));
    FB_TRY(clear_target(wish, source, kept, remarks, counts));
    for (const auto& place : kept) options.filter.exclude.push_back(place);
    auto without_manifests = options;
    without_manifests.filter.exclude.emplace_back(each_manifest);
    FB_TRY(tree::copy_tree(wish.source, wish.target, without_manifests, remarks, counts));
    FB_TRY_ASSIGN(manifests, manifests_of(source, kept, remarks));
    options.wished = std::move(manifests);
    options.removes_extra = false;
    options.lead = nullptr;  // a few small files
    FB_TRY(tree::copy_tree(wish.source, wish.target, options, remarks, counts));
    FB_TRY(remove_unnamed(wish.target, unnamed_before));
    FB_TRY(read_back(wish, source, kept, remarks, copied));
    return copied;
}

}  // namespace forebay::cli
