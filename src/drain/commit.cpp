#include "drain/commit.hpp"

#include <fmt/format.h>

#include <set>

#include "base/limits.hpp"
#include "catalog/names.hpp"
#include "drain/gather.hpp"

namespace forebay::drain {

namespace {

// What lies under a snapshot's final name.
struct Standing {
    bool exists = false;
    std::uint64_t snapshot_id = 0;  // 0 when its manifest is unreadable: it is then nobody's snapshot
};

class Committer {
public:
    Committer(sys::Store& store, const std::string& run, const std::string& stream, std::int64_t step, std::uint64_t id)
        : store_(store),
          run_(run),
          stream_(run + "/" + stream),
          final_(stream_ + "/" + catalog::step_name(step)),
          part_(stream_ + "/" + catalog::part_name(step, id)),
          step_(step),
          id_(id) {}

    Result<Commit> run(std::uint32_t nodes);

private:
    Result<Standing> standing() const;
    Result<bool> is_committed() const;
    Result<Commit> lost_race(const Error& error) const;
    Result<> write_manifest(const format::Manifest& manifest, std::uint32_t nodes) const;
    Result<Commit> publish() const;
    Result<Commit> publish_over(const Standing& older) const;
    Result<> remove_view() const;
    Result<> make_names_durable() const;

    sys::Store& store_;
    std::string run_, stream_, final_, part_;
    std::int64_t step_;
    std::uint64_t id_;
};

Result<Standing> Committer::standing() const {
    const auto manifest = catalog::load_manifest(store_, final_);
    if (manifest) return Standing{true, manifest->snapshot_id};
    const auto kind = manifest.error().kind;
    if (kind != ErrorKind::missing && kind != ErrorKind::corrupt) return manifest.error();
    FB_TRY_ASSIGN(exists, store_.exists(final_));
    return Standing{exists, 0};
}

Result<bool> Committer::is_committed() const {
    FB_TRY_ASSIGN(here, standing());
    return here.exists && here.snapshot_id == id_;
}

Result<> Committer::make_names_durable() const {
    FB_TRY(store_.sync_directory(stream_));
    return store_.sync_directory(run_);
}

// Something of the part was gone when we reached for it: another agent has renamed it, or the error is real.
Result<Commit> Committer::lost_race(const Error& error) const {
    FB_TRY_ASSIGN(committed, is_committed());
    if (!committed) return error;
    FB_TRY(make_names_durable());
    return Commit::already;
}

Result<Commit> Committer::run(std::uint32_t nodes) {
    FB_TRY_ASSIGN(committed, is_committed());
    if (committed) {
        // Whoever renamed it may have lost power before the sync.
        FB_TRY(make_names_durable());
        return Commit::already;
    }
    FB_TRY_ASSIGN(absent, absent_node(store_, part_, nodes));
    if (absent) {
        // The part may have been renamed between the two looks.
        FB_TRY_ASSIGN(now_committed, is_committed());
        if (!now_committed) return Commit::waiting;
        FB_TRY(make_names_durable());
        return Commit::already;
    }
    const auto manifest = gather(store_, part_, {id_, step_, nodes});
    if (!manifest) return lost_race(manifest.error());
    if (const auto written = write_manifest(*manifest, nodes); !written) return lost_race(written.error());
    return publish();
}

// The agents that wrote the node files have synced them before their names appeared, but perhaps not yet the names.
Result<> Committer::write_manifest(const format::Manifest& manifest, std::uint32_t nodes) const {
    if (nodes > limits::nodes_per_directory) {
        std::set<std::string> groups;
        for (const auto& line : manifest.nodes) groups.insert(part_ + "/" + line.path.substr(0, line.path.rfind('/')));
        for (const auto& group : groups) FB_TRY(store_.sync_directory(group));
    }
    return sys::write_text_durable(store_, part_ + "/" + catalog::manifest_name, format::encode_manifest(manifest));
}

// A view of what stood here before would show the new snapshot's bytes under the old one's layout.
Result<> Committer::remove_view() const {
    const auto view = stream_ + "/" + catalog::view_name(step_);
    FB_TRY_ASSIGN(exists, store_.exists(view));
    if (!exists) return {};
    FB_TRY(store_.remove(view));
    return store_.sync_directory(stream_);
}

Result<Commit> Committer::publish() const {
    FB_TRY_ASSIGN(here, standing());
    if (here.exists && here.snapshot_id == id_) {
        FB_TRY(make_names_durable());
        return Commit::already;
    }
    FB_TRY(remove_view());
    if (here.exists) return publish_over(here);
    if (const auto renamed = store_.rename(part_, final_); !renamed) return lost_race(renamed.error());
    FB_TRY(make_names_durable());
    return Commit::committed;
}

Result<Commit> Committer::publish_over(const Standing& older) const {
    const auto old = stream_ + "/" + catalog::leftover_name({step_, older.snapshot_id, catalog::Leftover::Kind::old});
    const auto moved = store_.rename(final_, old);
    if (!moved && moved.error().kind != ErrorKind::missing) return lost_race(moved.error());

    auto outcome = Commit::committed;
    bool remove_old = moved.has_value();
    if (const auto renamed = store_.rename(part_, final_); !renamed) {
        // Between our look and our rename another agent may have committed this very snapshot; what we moved is then
        // either the older save or that snapshot. It goes back, unless its place is taken.
        const auto back = moved ? store_.rename(old, final_) : moved;
        FB_TRY_ASSIGN(committed, is_committed());
        if (!committed) {
            auto error = renamed.error();
            if (!back)
                error.text += fmt::format(
                    "\n  Safe: the committed save of step {} that was to be replaced, in {}.\n"
                    "  Next: forebay recover {}",
                    step_, old, run_);
            return error;
        }
        outcome = Commit::already;
        remove_old = moved.has_value() && !back.has_value();
    }
    FB_TRY(make_names_durable());
    // Only who moved it removes it: by now another agent's mistaken move could lie under that name.
    if (!remove_old) return outcome;
    if (const auto removed = store_.remove_tree(old); !removed)
        return Error{removed.error().kind,
                     fmt::format("step {} is committed in {}, but the save that it replaces could not be removed: {}\n"
                                 "  Next: forebay recover {}",
                                 step_, final_, removed.error().text, run_)};
    return outcome;
}

}  // namespace

Result<Commit> commit_if_complete(sys::Store& store, const std::string& run, const std::string& stream,
                                  std::int64_t step, std::uint64_t snapshot_id, std::uint32_t nodes) {
    if (nodes == 0 || nodes > limits::nodes_max || step < 0)
        return Error{ErrorKind::refused,
                     fmt::format("cannot commit step {} of stream \"{}\" with {} nodes: steps start at "
                                 "0, nodes are 1 to {}.",
                                 step, stream, nodes, limits::nodes_max)};
    return Committer(store, run, stream, step, snapshot_id).run(nodes);
}

}  // namespace forebay::drain
