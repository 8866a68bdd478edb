// Finishes the work that a crash left, stream by stream and directory by directory. Parts (.part) are committed if all
// their node files are there. Replaced saves (.old) get their name back unless a later save has it. Half-removed
// directories (.gone) are removed. Parts come first, because a complete part takes the name that an old save would
// otherwise get back.
//
// A leftover that cannot be finished is reported as `incomplete`, and the next leftover follows. Nothing is removed
// that might be the only whole copy: if the committed save is damaged and another copy is left, a person decides.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/try.hpp"
#include "core/format/packed.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/views.hpp"
#include "path/commit/commit.hpp"
#include "path/commit/commit_batch.hpp"
#include "path/commit/gather.hpp"
#include "path/commit/publish.hpp"

namespace forebay::commit {

namespace {

using catalog::Leftover;
using Outcome = Recovered::Outcome;

std::string said_of(const std::vector<std::string>& others) {
    std::string text;
    for (const auto& path : others) text += "\n  " + catalog::stays_text(path);
    return text;
}

class Recovery {
public:
    Recovery(sys::Store& store, const std::string& run, std::uint64_t run_id, const std::string& stream,
             bool remove_incomplete)
        : store_(store), run_(run), run_id_(run_id), stream_(stream), remove_incomplete_(remove_incomplete) {}

    /// Returns nothing if another program finished the leftover after it was listed.
    Result<std::optional<Recovered>> finish(const Leftover& leftover) {
        FB_TRY_ASSIGN(committed, catalog::committed_name(store_, leftover.directory));
        auto done = committed                               ? second_name(leftover, *committed)
                    : leftover.kind == Leftover::Kind::part ? part(leftover)
                    : leftover.kind == Leftover::Kind::old  ? old(leftover)
                                                            : gone(leftover);
        if (!done) done = Recovered{leftover, Outcome::incomplete, done.error().line()};
        if (done->outcome != Outcome::incomplete) return std::optional(*done);
        FB_TRY_ASSIGN(exists, store_.exists(leftover.directory));
        return exists ? std::optional(*done) : std::optional<Recovered>{};
    }

private:
    static Result<Recovered> second_name(const Leftover& leftover, const std::string& committed) {
        return Recovered{leftover, Outcome::incomplete, catalog::two_names(leftover.directory, committed).line()};
    }
    Result<Recovered> part(const Leftover& leftover);
    Result<Recovered> old(const Leftover& leftover);
    Result<Recovered> gone(const Leftover& leftover);
    Result<Recovered> incomplete(const Leftover& leftover, const std::string& why);
    Result<Recovered> another_step(const Leftover& leftover);
    Result<> make_durable(const Leftover& batch);
    // A batch whose name has another step than its record, see move_to_free_step(). If its packer lives, it writes into
    // the batch, so no other program may.
    bool is_between_steps(const Leftover& leftover, const format::Record& record) const {
        return format::is_packed_stream(stream_) && record.snapshot_id == leftover.snapshot_id &&
               record.step != leftover.step;
    }
    Recovered beside_damaged(const Leftover& leftover, const Result<format::Manifest>& standing) const;

    SnapshotPlace place_of(const Leftover& leftover) const { return {run_, stream_, leftover.step}; }
    std::string final_of(const Leftover& leftover) const { return place_of(leftover).final_directory(); }
    // The manifest of the committed snapshot of the step, if the snapshot is whole.
    Result<format::Manifest> whole(const Leftover& leftover) const {
        FB_TRY_ASSIGN(manifest, catalog::load_manifest(store_, final_of(leftover)));
        FB_TRY(catalog::check_unchanged(store_, final_of(leftover), manifest));
        return manifest;
    }
    Result<> remove(const Leftover& leftover) {
        return catalog::discard(store_, leftover.directory, leftover.step, leftover.snapshot_id);
    }

    sys::Store& store_;
    const std::string run_;
    const std::uint64_t run_id_;
    const std::string stream_;
    const bool remove_incomplete_;
};

Result<Recovered> Recovery::incomplete(const Leftover& leftover, const std::string& why) {
    if (!remove_incomplete_)
        return Recovered{leftover, Outcome::incomplete,
                         fmt::format("step {}: {}; left in {}.", leftover.step, why, leftover.directory)};
    FB_TRY(remove(leftover));
    return Recovered{leftover, Outcome::removed, fmt::format("step {}: {}; removed.", leftover.step, why)};
}

Result<Recovered> Recovery::part(const Leftover& leftover) {
    const auto standing = whole(leftover);
    if (!standing && standing.error().kind == ErrorKind::retry) return standing.error();
    if (standing && standing->snapshot_id == leftover.snapshot_id) {
        // The committed copy must be durable before the second copy goes.
        FB_TRY(find_committed(store_, place_of(leftover), standing->head().which_save()));
        FB_TRY(remove(leftover));
        return Recovered{leftover, Outcome::removed,
                         fmt::format("step {} is committed; a second copy of it was removed.", leftover.step)};
    }
    const auto arrived = look_at_part(store_, leftover.directory);
    // A failing disk must not look like an incomplete part.
    if (!arrived && arrived.error().kind == ErrorKind::retry) return arrived.error();
    if (!arrived) return incomplete(leftover, arrived.error().line());
    if (!arrived->record) return incomplete(leftover, "no node file has arrived");
    if (is_between_steps(leftover, *arrived->record)) {
        if (remove_incomplete_) return another_step(leftover);
        return incomplete(leftover, "its packer is giving it another step, or was killed while doing so");
    }
    auto key = key_of(run_, stream_, *arrived->record);
    key.save.snapshot_id = leftover.snapshot_id;  // gather() finds files of another part
    key.step = leftover.step;
    FB_TRY_ASSIGN(
        absent,
        catalog::form_of(key.form).absent(
            store_, leftover.directory,
            {.snapshot_id = leftover.snapshot_id, .step = leftover.step, .nodes = key.nodes, .form = key.form}));
    if (absent)
        return incomplete(leftover, fmt::format("{} of {} node files have arrived, but not the file of node {}",
                                                arrived->files, key.nodes, *absent));
    if (format::is_packed_stream(stream_)) FB_TRY(make_durable(leftover));
    std::vector<std::string> others;
    FB_TRY_ASSIGN(outcome, commit_if_complete(store_, key, run_id_, nullptr, &others));
    switch (outcome) {
        case Commit::waiting: return incomplete(leftover, "another process is moving its node files");
        case Commit::superseded:
            return Recovered{leftover, Outcome::removed,
                             fmt::format("step {}: a later save of it is committed. The earlier save, which was never "
                                         "committed, was removed.",
                                         leftover.step)};
        case Commit::set_aside:
            return Recovered{leftover, Outcome::committed,
                             fmt::format("step {} was complete and is now committed in the abandoned line {}.",
                                         leftover.step, format::name_of(key.save.line))};
        case Commit::taken: return another_step(leftover);
        case Commit::already: return beside_damaged(leftover, standing);
        case Commit::committed: break;
    }
    return Recovered{leftover, Outcome::committed,
                     fmt::format("step {} was complete and is now committed in {}.{}", leftover.step,
                                 final_of(leftover), said_of(others))};
}

// A killed packer may have written the new step into the record without a sync.
Result<> Recovery::make_durable(const Leftover& batch) {
    FB_TRY_ASSIGN(file, store_.open(batch.directory + "/" + format::node_path(0, 1), sys::Access::update));
    FB_TRY(file->sync());
    return file->close();
}

// The killed packer removed none of the files that it packed, but its working directory may be gone too.
Result<Recovered> Recovery::another_step(const Leftover& leftover) {
    BatchPart batch{run_, stream_, leftover.step, leftover.snapshot_id, run_id_};
    FB_TRY(move_to_free_step(store_, leftover.directory, batch));
    FB_TRY(commit_batch(store_, batch));
    return Recovered{leftover, Outcome::committed,
                     fmt::format("step {} was complete, but another batch has that step. It is committed as step {}.",
                                 leftover.step, batch.step)};
}

// The committed save is unusable, and the leftover may be needed: a person decides.
Recovered Recovery::beside_damaged(const Leftover& leftover, const Result<format::Manifest>& standing) const {
    const auto why = standing ? std::string("it was committed a moment ago") : standing.error().what;
    const Error damaged{ErrorKind::corrupt,
                        fmt::format("step {}: the committed copy is damaged ({})", leftover.step, why),
                        fmt::format("the other copy, in {}", leftover.directory),
                        fmt::format("forebay verify {}/{}@{}, then remove one copy", run_, stream_, leftover.step)};
    return {leftover, Outcome::incomplete, damaged.line()};
}

// A replacement was cut, or another replacement overtook it. The later of the two saves gets the name.
Result<Recovered> Recovery::old(const Leftover& leftover) {
    FB_TRY_ASSIGN(replaced, store_.exists(final_of(leftover)));
    const auto standing = whole(leftover);
    // A failing disk must not look like a damaged snapshot.
    if (!standing && standing.error().kind == ErrorKind::retry) return standing.error();
    if (replaced && !standing) return beside_damaged(leftover, standing);
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store_, leftover.directory));
    std::vector<std::string> others;
    FB_TRY_ASSIGN(outcome, publish(store_, place_of(leftover), leftover.directory, manifest.head(), &others));
    if (outcome == Commit::taken) return another_step(leftover);
    if (outcome == Commit::set_aside)
        return Recovered{
            leftover, Outcome::restored,
            fmt::format("the replacement of step {} was interrupted. The step is back, in the abandoned line {}.",
                        leftover.step, format::name_of(manifest.lineage.line()))};
    if (outcome == Commit::committed)
        return Recovered{leftover, Outcome::restored,
                         fmt::format("the replacement of step {} was interrupted. The step is back in {}.{}",
                                     leftover.step, final_of(leftover), said_of(others))};
    FB_TRY(remove(leftover));
    return Recovered{leftover, Outcome::removed, fmt::format("step {}: the replaced save was removed.", leftover.step)};
}

Result<Recovered> Recovery::gone(const Leftover& leftover) {
    FB_TRY(remove(leftover));
    return Recovered{leftover, Outcome::removed, fmt::format("step {}: its removal was finished.", leftover.step)};
}

// Removes files whose writer was killed before it gave them their final names.
Result<> remove_temporaries(sys::Store& store, const std::string& directory) {
    FB_TRY_ASSIGN(entries, store.list(directory));
    for (const auto& entry : entries)
        if (!entry.is_directory && sys::is_temporary(entry.name))
            FB_TRY(sys::remove_unless_renamed(store, directory + "/" + entry.name));
    return {};
}

bool is_snapshot(const sys::Entry& entry) {
    return entry.is_directory && !entry.is_link && (catalog::step_of(entry.name) || catalog::aside_of(entry.name));
}

// Handles manifests and marks in committed snapshots, and views beside them. The target of a link does not belong to
// the run.
Result<> remove_temporaries_of(sys::Store& store, const std::string& run, const std::string& stream) {
    const auto directory = run + "/" + stream;
    FB_TRY(remove_temporaries(store, directory));
    FB_TRY_ASSIGN(entries, store.list(directory));
    for (const auto& entry : entries)
        if (is_snapshot(entry)) {
            const auto snapshot = directory + "/" + entry.name;
            FB_TRY(remove_temporaries(store, snapshot));
            FB_TRY_ASSIGN(marked, store.exists(catalog::marks_path(snapshot)));
            if (marked) FB_TRY(remove_temporaries(store, catalog::marks_path(snapshot)));
        }
    return {};
}

// A program may have marked a committed snapshot and died before it wrote the manifest.
Result<> complete_marks_of(sys::Store& store, const std::string& run, const std::string& stream,
                           std::vector<Recovered>& all) {
    FB_TRY_ASSIGN(versions, catalog::heads_of(store, run, stream));
    for (const auto& version : versions) {
        const auto& snapshot = version.snapshot;
        const auto done = catalog::complete_marks(store, snapshot.directory);
        if (!done && done.error().kind == ErrorKind::retry) return done.error();
        if (!done)
            all.push_back({{stream, snapshot.step, version.head.snapshot_id, Leftover::Kind::part, snapshot.directory},
                           Outcome::incomplete,
                           done.error().line()});
    }
    return {};
}

}  // namespace

Result<std::vector<Recovered>> recover(sys::Store& store, const std::string& run, bool remove_incomplete) {
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    FB_TRY_ASSIGN(run_id, catalog::identity_of(store, run));
    std::vector<Recovered> all;
    for (const auto& stream : streams) {
        FB_TRY_ASSIGN(leftovers, catalog::leftovers(store, run, stream));
        // Parts first: a complete part takes the name that an old save would otherwise get back.
        std::ranges::stable_sort(leftovers, {}, [](const Leftover& leftover) { return leftover.kind; });
        Recovery recovery(store, run, run_id, stream, remove_incomplete);
        for (const auto& leftover : leftovers) {
            FB_TRY_ASSIGN(done, recovery.finish(leftover));
            if (done) all.push_back(*done);
        }
        FB_TRY(complete_marks_of(store, run, stream, all));
        if (remove_incomplete) FB_TRY(remove_temporaries_of(store, run, stream));
        // An agent may have been killed between a rename and its sync. A power cut could still undo that name.
        FB_TRY(store.sync_directory(run + "/" + stream));
    }
    if (remove_incomplete) {
        FB_TRY(remove_temporaries(store, run));
        const auto own = run + "/" + catalog::own_directory;
        FB_TRY_ASSIGN(has_own, store.exists(own));
        if (has_own) FB_TRY(remove_temporaries(store, own));
        FB_TRY(catalog::remove_new(store, run));
        // Parts that nodes gave to analyses of steps, if the remaining nodes never saw these steps (insitu/parts.hpp).
        FB_TRY(store.remove_tree(catalog::analysed_path(run, "")));
    }
    FB_TRY(store.sync_directory(run));
    return all;
}

}  // namespace forebay::commit
