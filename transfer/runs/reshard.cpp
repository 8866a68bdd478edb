#include "transfer/runs/reshard.hpp"

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/tree.hpp"
#include "path/catalog/catalog.hpp"
#include "path/commit/reshard.hpp"
#include "transfer/copy/copy_context.hpp"

namespace forebay::cli {

namespace {

/// One snapshot on its way. The last of its node files commits it.
struct SnapshotOnItsWay {
    std::string place;
    catalog::Snapshot source;
    commit::Resharding what;
    std::atomic<std::uint32_t> left{0};  // node files
    std::mutex mutex;                    // guards what follows
    std::optional<Error> error;          // the first
};

// No link is followed.
Result<std::unique_ptr<sys::OpenEntry>> open_below(const std::string& root, const std::string& path) {
    FB_TRY_ASSIGN(folder, sys::open_posix_folder(root));
    auto below = std::string_view(path).substr(root.size() + 1);
    for (auto slash = below.find('/'); slash != below.npos; slash = below.find('/')) {
        FB_TRY_ASSIGN(next, folder->open_folder(std::string(below.substr(0, slash))));
        folder = std::move(next);
        below.remove_prefix(slash + 1);
    }
    return folder->open_entry(std::string(below));
}

class RunResharder {
public:
    RunResharder(const RunCopy& wish, const RunSnapshots& source, tree::CopyContext& context)
        : wish_(wish), source_(source), context_(context) {}

    Result<> run(const NodeFilesWished& places) {
        FB_TRY(context_.share.run([&](tree::TreeWorker& worker) {
            for (auto place = places.rbegin(); place != places.rend(); ++place)  // what is added last is done first
                context_.share.add(worker, [this, place = place->first](tree::TreeWorker& own) { begin(own, place); });
        }));
        return context_.fatal();
    }

private:
    void begin(tree::TreeWorker& worker, const std::string& place) {
        auto snapshot = std::make_shared<SnapshotOnItsWay>();
        snapshot->place = place;
        snapshot->source = source_.at(place).snapshot;
        if (const auto begun = prepare(*snapshot); !begun) return report(*snapshot, begun.error());
        for (auto node = snapshot->what.nodes; node-- > 0;)
            context_.share.add(worker, [this, snapshot, node](tree::TreeWorker&) { make(*snapshot, node); });
    }

    Result<> prepare(SnapshotOnItsWay& snapshot) {
        auto& what = snapshot.what;
        what.store = wish_.store;
        what.source = snapshot.source.directory;
        FB_TRY_ASSIGN(manifest, catalog::load_manifest(*what.store, what.source));
        what.manifest = std::move(manifest);
        what.directory = wish_.target + "/" + snapshot.place;
        what.nodes = commit::node_files_of(what.manifest, wish_.node_files);
        what.pace = context_.way().pace;
        what.stop = &context_.share.stopped();
        what.syncs = wish_.options.syncs;
        what.moved = context_.way().moved;
        what.dress = [&](const std::string& path, bool is_whole) { return dress(snapshot, path, is_whole); };
        snapshot.left = what.nodes;
        return commit::remove_stale(what);
    }

    void make(SnapshotOnItsWay& snapshot, std::uint32_t node) {
        const auto had_error = [&] {
            const std::lock_guard lock(snapshot.mutex);
            return snapshot.error.has_value();
        };
        if (!had_error()) {
            if (const auto made = commit::write_node_file(snapshot.what, node); !made) {
                const std::lock_guard lock(snapshot.mutex);
                if (!snapshot.error) snapshot.error = made.error();
            } else {
                ++context_.counts.copied;
            }
        }
        if (--snapshot.left > 0) return;
        if (!had_error()) {
            const auto committed = commit::commit_resharded(snapshot.what);
            if (committed) ++context_.counts.copied;  // the manifest
            if (committed) return;
            snapshot.error = committed.error();
        }
        report(snapshot, *snapshot.error);
    }

    // A snapshot that the run has removed meanwhile is no error of it.
    void report(const SnapshotOnItsWay& snapshot, const Error& error) {
        const auto removed = catalog::is_removed(*wish_.store, snapshot.source.directory, 0);
        if (removed && *removed)
            return context_.remarks.add(tree::RemarkKind::vanished, snapshot.place, "the run has removed it");
        if (error.kind == ErrorKind::missing)  // not the snapshot, but a file of it
            return context_.remarks.add(tree::RemarkKind::failed, snapshot.place, error.what);
        context_.report(snapshot.place, error);
    }

    // What the first node file of the source has, and its manifest has for the new one. Times come last, since writing
    // changes them; all else comes first, so that nobody reads a file while it is made who may not do so later.
    Result<> dress(const SnapshotOnItsWay& snapshot, const std::string& path, bool is_whole) {
        const bool is_manifest = leaf_of(path) == catalog::manifest_name;
        const auto like = snapshot.source.directory + "/" +
                          (is_manifest ? catalog::manifest_name : snapshot.what.manifest.nodes.front().path);
        FB_TRY_ASSIGN(source, open_below(wish_.source, like));
        FB_TRY_ASSIGN(target, open_below(wish_.target, path));
        FB_TRY_ASSIGN(status, source->status());
        FB_TRY_ASSIGN(now, target->status());
        const auto all = wish_.options.preserve;
        tree::Preserve preserve{
            .owner = false, .group = false, .permissions = false, .times = all.times, .attributes = false};
        if (!is_whole || is_manifest) preserve = all;
        if (!is_whole) preserve.times = false;
        FB_TRY_ASSIGN(attributes, tree::attributes_of(*source));
        FB_TRY_ASSIGN(held, target->attribute_names());
        return tree::give_attributes(
            status, attributes, *target,
            {.user = now.user, .group = now.group, .permissions = now.permissions, .attributes = std::move(held)},
            preserve, [&](const std::string& part, const std::string& value, Result<> done) {
                return context_.settle(path.substr(wish_.target.size() + 1), status, part, value, std::move(done));
            });
    }

    const RunCopy& wish_;
    const RunSnapshots& source_;
    tree::CopyContext& context_;
};

}  // namespace

Result<NodeFilesWished> to_reshard(const RunCopy& wish, const RunSnapshots& source, const std::set<std::string>& kept) {
    NodeFilesWished places;
    if (wish.node_files == 0) return places;
    for (const auto& [place, version] : source) {
        if (kept.contains(place)) continue;
        const auto manifest = catalog::load_manifest(*wish.store, version.snapshot.directory);
        if (!manifest) continue;  // who copies its files says of a damaged one that it is
        const auto wished = commit::node_files_of(*manifest, wish.node_files);
        if (wished != manifest->nodes.size()) places.emplace(place, wished);
    }
    return places;
}

void leave_out_node_files(const std::string& place, tree::EntryFilter& filter) {
    for (const char* name : {"/manifest.json", "/node-*.h5", "/node-*.h5.tmp", "/nodes-*.h5", "/shared.h5", "/g???"})
        filter.exclude.push_back(place + name);
}

Result<> reshard(const RunCopy& wish, const RunSnapshots& source, const NodeFilesWished& places, tree::Remarks& remarks,
                 tree::CopyCounts& counts) {
    if (places.empty()) return {};
    tree::CopyContext context(wish.options, remarks, counts, {});
    return RunResharder(wish, source, context).run(places);
}

}  // namespace forebay::cli
