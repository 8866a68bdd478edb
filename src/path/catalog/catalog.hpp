// The catalog: the snapshots of a run that exist at its target, how whole they are, and which of them stay.
//
//   RUN/STREAM/step-000120/manifest.json        committed: node files beside it, named in it
//   RUN/STREAM/step-000120.h5                   its plain view, if one was made; others: .h5part, .openpmd.h5, .nc
//   RUN/STREAM/series.nc                        a view of several snapshots; also .h5part, .openpmd.h5
//   RUN/STREAM/line-1.step-000120/              of a line that the run has left, see history.hpp
//   RUN/STREAM/.step-000120.<id>.part/          being drained by the save of that id; committed by a rename
//   RUN/STREAM/.step-000120.<id>.old/           the committed snapshot that a new save of the same step replaces
//   RUN/STREAM/.step-000120.<id>.gone/          being removed
//
// A snapshot appears and vanishes by one rename of its directory; what starts with a dot is never read as a snapshot.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/format/lineage.hpp"
#include "core/format/manifest.hpp"
#include "core/sys/store.hpp"
#include "forebay/options.hpp"

namespace forebay::catalog {

inline constexpr const char* manifest_name = "manifest.json";

std::string step_name(std::int64_t step);                                             // "step-000120"
std::string part_name(std::int64_t step, std::uint64_t snapshot_id);                  // ".step-000120.00f3...9a.part"
std::string view_name(std::int64_t step, Convention convention = Convention::plain);  // "step-000120.h5"
std::string series_name(Convention convention);                                       // "series.nc"

struct Snapshot {
    std::string stream;
    std::int64_t step = 0;
    std::string directory;  // RUN/STREAM/step-000120
};

/// A directory whose snapshot is not committed: being drained, or left by a crash.
struct Leftover {
    std::string stream;
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
    enum class Kind { part, old, gone } kind = Kind::part;
    std::string directory;
};

/// Names of the run's streams, sorted: its directories that hold a snapshot or a leftover. `missing` when the run
/// does not exist.
Result<std::vector<std::string>> streams(sys::Store& store, const std::string& run);

/// The entries of a stream's directory; `missing` when it does not exist: an absent mount must not look like a stream
/// without snapshots. `retry` when it is a link that leads nowhere, as to a disk that is not mounted.
Result<std::vector<sys::Entry>> list_stream(sys::Store& store, const std::string& run, const std::string& stream);

/// Committed snapshots of a stream by falling step, without those that have the name of an abandoned line (by name
/// alone; nothing is opened: history() says which is the newest). Errors as list_stream().
Result<std::vector<Snapshot>> snapshots(sys::Store& store, const std::string& run, const std::string& stream);
/// Likewise what is not committed, by falling step.
Result<std::vector<Leftover>> leftovers(sys::Store& store, const std::string& run, const std::string& stream);

Result<format::Manifest> load_manifest(sys::Store& store, const std::string& directory);
/// `corrupt` where a manifest is that of another step or stream than its directory is named for: somebody has copied or
/// renamed the directory.
Result<> check_place(const format::Manifest& manifest, const Snapshot& snapshot);

/// Reads one node file's head. `path` is the file's, or of a combined file "X.h5/node-00003".
Result<format::NodeFile> load_head(sys::Store& store, const std::string& path);

/// Whether every node file of the manifest is there with its size and its record.
/// Opens each file once and reads 8 KiB of it. `missing` names the first file that is absent, `corrupt` the first
/// that is cut short, torn, or not the one that was committed.
Result<> check_whole(sys::Store& store, const std::string& directory, const format::Manifest& manifest);

/// Whether the files that the manifest names are there, and whether the first of them can be opened. Reads nothing:
/// lists each directory of the snapshot once, looks for a file that is not listed by its name, and opens one file.
/// `missing` names the first file that is absent.
Result<> check_files(sys::Store& store, const std::string& directory, const format::Manifest& manifest);

/// Writes into the manifest when each of its files was changed last. Whoever commits a snapshot calls this after the
/// last write to the files. One look at each file.
Result<> note_changes(sys::Store& store, const std::string& directory, format::Manifest& manifest);

/// check_whole(), and whether each file was changed last when the manifest says: what retention counts as verified. The
/// bytes were verified as they were drained, and nobody has written to them since. Costs a look more at each file.
/// `corrupt` when a file has changed since or the manifest does not say when it did. A store that tells no times, as a
/// bucket, has check_whole() alone.
Result<> check_unchanged(sys::Store& store, const std::string& directory, const format::Manifest& manifest);

/// A segment whose bytes differ from what the application gave; or, without a variable, a whole node file that is
/// missing, cut short, torn, or not the one that was committed.
struct Damage {
    std::string file;
    std::string variable;
    std::uint32_t rank = 0;
    std::uint64_t first_byte = 0, last_byte = 0;  // in the file
    std::string text;                             // the sentence for people
};

struct Verified {
    std::uint64_t snapshot_id = 0;
    std::uint64_t bytes = 0;
    std::uint64_t segments = 0;
    std::vector<Damage> damage;       // empty: every byte is what the application gave
    std::vector<format::Mark> marks;  // what is said of it
    /// Stretches that were wrong in this machine's cache alone: they are right in storage, and now in the cache too.
    std::uint64_t healed = 0;
};

/// Whether the snapshot that was listed in `directory` is there no more, or another save of its step is: what is
/// missing of it is then no damage. `snapshot_id` is 0 where it is not known. Directories are opened anew for it, since
/// a client of a network file system may list, for some time, what another one has removed.
Result<bool> is_removed(sys::Store& store, const std::string& directory, std::uint64_t snapshot_id);

/// Reads everything of one snapshot and checks every segment, in limits::verify_window_bytes of memory beside one
/// node file's head. `progress` (may be empty) is called with bytes done and in all. An Error means that the check
/// could not be made (no or a damaged manifest, a file that cannot be read now, a newer version).
Result<Verified> verify(sys::Store& store, const Snapshot& snapshot,
                        const std::function<void(std::uint64_t, std::uint64_t)>& progress);

/// Takes the directory of a snapshot, or a leftover, away for good, by a rename and then file by file: no crash leaves
/// a part of it under a name that means more than "being removed". Missing is fine.
Result<> discard(sys::Store& store, const std::string& directory, std::int64_t step, std::uint64_t snapshot_id);

/// The snapshots of a stream that stay: docs/explanation/what-durable-means.md.
struct Retention {
    int keep = 0;                 // living snapshots that count, and as many marked ones; 0: all
    int keep_abandoned = -1;      // newest ones that lines before left; -1: until `keep` newer ones count
    std::int64_t keep_also = -1;  // a step of the living line that stays: it was committed just now
    int unproved = 0;             // newest ones that stay and do not count: an analysis may still mark them
    std::set<std::uint64_t> in_analysis = {};  // ids of others, likewise
    bool dry_run = false;                      // only say what would be removed
    std::uint32_t session = 0;                 // that of who asks; 0: of none
    /// Whether a snapshot is whole; empty: check_unchanged() says so. Only snapshots that are to count are asked for,
    /// and only if one that counts would make another go.
    std::function<Result<>(const Snapshot&)> proof = {};
};

struct Pruned {
    std::vector<Snapshot> removed;
    std::vector<std::string> reasons;  // of each that is removed: why
    std::vector<Snapshot> kept;
    std::vector<std::string> problems;  // snapshots that do not count, and why
    std::vector<std::string> others;    // under names of views of what was removed, and none: they stay
    /// A session after Retention::session has saved here: nothing was removed or renamed.
    std::uint32_t later_session = 0;
    /// Of prune_line(): nothing is living now, and this line has left what is there; session 0: nothing is there.
    std::optional<format::Line> left_by = {};
};

/// Removes what retention.cpp selects (the views, then by a rename, then file by file): of living snapshots those that
/// are older than the `keep` newest good ones, and marked ones beyond the `keep` newest marked. Good is what nobody has
/// marked (marks.hpp) and what is known to be whole. With fewer than `keep` good ones no good one is removed. What is
/// abandoned gets the name of its line, and goes when `keep` good ones are living on lines that came after. Another
/// run's snapshots are not touched. If a session after `what.session` has saved here, nothing is removed or renamed.
Result<Pruned> prune(sys::Store& store, const std::string& run, const std::string& stream, const Retention& what);

/// Goes back for good: begins a line after all there are, which goes on from `step`, and removes what the line before
/// has above it. The answer says what was, or with `dry_run` would be, removed. `session` is that of a claim.
Result<Pruned> prune_above(sys::Store& store, const std::string& run, const std::string& stream, std::int64_t step,
                           std::uint32_t session, bool dry_run);

/// Gives the line up that the run is on: removes all that it holds, and has it count no more, so that what it had
/// abandoned is living again. With nothing living that is the last line that is known, even if it has no snapshot.
/// Of an earlier line removes what the run has left of it. `missing` where there is neither.
Result<Pruned> prune_line(sys::Store& store, const std::string& run, const std::string& stream,
                          const format::Line& line, bool dry_run);

}  // namespace forebay::catalog
