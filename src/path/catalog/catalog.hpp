// The catalog: the snapshots of a run at its target. It lists them, checks them, and removes old snapshots.
//
//   RUN/STREAM/step-000120/manifest.json        committed: it lists the node files beside it
//   RUN/STREAM/step-000120.h5                   its plain view, if any; others: .h5part, .openpmd.h5, .nc
//   RUN/STREAM/series.nc                        a view of several snapshots; also .h5part, .openpmd.h5
//   RUN/STREAM/line-1.step-000120/              a snapshot of an abandoned line, see history.hpp
//   RUN/STREAM/.step-000120.<id>.part/          save <id> is being drained; committed by a rename
//   RUN/STREAM/.step-000120.<id>.old/           a committed snapshot; a new save of this step replaces it
//   RUN/STREAM/.step-000120.<id>.gone/          being removed
//
// A snapshot appears and vanishes by one rename of its directory. A name with a leading dot is never read as a
// snapshot.

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

/// Names of the run's streams, sorted. A stream is a directory with a snapshot or a leftover. `missing` if the run does
/// not exist.
Result<std::vector<std::string>> streams(sys::Store& store, const std::string& run);

/// The entries of a stream's directory. `missing` if it does not exist, because an absent mount must not look like an
/// empty stream. `retry` if it is a broken link, for example to a disk that is not mounted.
Result<std::vector<sys::Entry>> list_stream(sys::Store& store, const std::string& run, const std::string& stream);

/// Committed snapshots of a stream by falling step, without snapshots under the name of an abandoned line. It reads
/// only names and opens nothing; use history() to find the newest snapshot. Errors as list_stream().
Result<std::vector<Snapshot>> snapshots(sys::Store& store, const std::string& run, const std::string& stream);
/// The leftovers of a stream by falling step. Errors as list_stream().
Result<std::vector<Leftover>> leftovers(sys::Store& store, const std::string& run, const std::string& stream);

Result<format::Manifest> load_manifest(sys::Store& store, const std::string& directory);
/// `corrupt` if the manifest has another step or stream than the name of its directory: somebody copied or renamed the
/// directory.
Result<> check_place(const format::Manifest& manifest, const Snapshot& snapshot);

/// Reads one node file's head. `path` is the path of the file; in a combined file "X.h5/node-00003".
Result<format::NodeFile> load_head(sys::Store& store, const std::string& path);

/// Checks that every node file of the manifest exists with its size and its record. It opens each file once and reads 8
/// KiB of it. `missing` reports the first absent file, `corrupt` the first file that is cut short, torn, or not the
/// committed file.
Result<> check_whole(sys::Store& store, const std::string& directory, const format::Manifest& manifest);

/// Checks that the files of the manifest exist, and that the first file can be opened. It reads no data: it lists each
/// directory of the snapshot once, looks up each file that the list lacks, and opens one file. `missing` reports the
/// first absent file.
Result<> check_files(sys::Store& store, const std::string& directory, const format::Manifest& manifest);

/// Writes the change time of each file into the manifest. Call it after the last write to the files and before you
/// commit a snapshot. Costs one stat for each file.
Result<> note_changes(sys::Store& store, const std::string& directory, format::Manifest& manifest);

/// check_whole(), and compares the change time of each file with the manifest. Retention counts a snapshot as verified
/// if this succeeds: the drain verified the bytes, and nobody wrote to the files since. Costs one more stat for each
/// file. `corrupt` if a file changed or the manifest has no time for it. For a store without times, such as a bucket,
/// it is only check_whole().
Result<> check_unchanged(sys::Store& store, const std::string& directory, const format::Manifest& manifest);

/// A segment that differs from the application's data. Without a variable: a whole node file that is missing, cut
/// short, torn, or not the committed file.
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
    std::vector<Damage> damage;       // empty: every byte equals the application's data
    std::vector<format::Mark> marks;  // its marks
    /// Damaged stretches in this machine's page cache. Storage is right, and the cache now too.
    std::uint64_t healed = 0;
};

/// True if the snapshot in `directory` was removed, or if another save of its step replaced it. Then missing files are
/// no damage. `snapshot_id` is 0 if you do not know it. The call opens directories anew, because for some time a client
/// of a network file system may list entries after another client removed them.
Result<bool> is_removed(sys::Store& store, const std::string& directory, std::uint64_t snapshot_id);

/// Reads one whole snapshot and checks every segment. It needs limits::verify_window_bytes of memory, and the memory of
/// one node file's head. It calls `progress` (may be empty) with bytes done and bytes in all. An Error means that the
/// check could not run: no or a damaged manifest, a file that cannot be read now, a newer version.
Result<Verified> verify(sys::Store& store, const Snapshot& snapshot,
                        const std::function<void(std::uint64_t, std::uint64_t)>& progress);

/// Removes the directory of a snapshot or a leftover: first a rename to ".gone", then file by file. So after a crash no
/// partly removed directory has another name. A missing directory is fine. `refused` if a leftover is another name of a
/// committed snapshot. To discard a committed name removes the snapshot under all of its names.
Result<> discard(sys::Store& store, const std::string& directory, std::int64_t step, std::uint64_t snapshot_id);

/// The committed name of a leftover that is a second name of a snapshot: on DAOS a rename that was cut leaves both.
Result<std::optional<std::string>> committed_name(sys::Store& store, const std::string& leftover);
/// The error that both names stay.
Error two_names(const std::string& leftover, const std::string& committed);

/// The rules by which prune() keeps snapshots: docs/explanation/what-durable-means.md.
struct Retention {
    int keep = 0;                 // living snapshots to keep, and as many marked snapshots; 0: all
    int keep_abandoned = -1;      // newest abandoned snapshots to keep; -1: until `keep` newer snapshots count
    std::int64_t keep_also = -1;  // keep this step of the living line: it was committed just now
    int unproved = 0;             // newest snapshots to keep without counting: an analysis may still mark them
    std::set<std::uint64_t> in_analysis = {};  // ids of more such snapshots
    bool dry_run = false;                      // only report the snapshots to remove
    std::uint32_t session = 0;                 // the caller's session; 0: none
    /// Checks that a snapshot is whole; empty: check_unchanged() does. prune() calls it only for snapshots that would
    /// count, and only if one more good snapshot would let it remove another.
    std::function<Result<>(const Snapshot&)> proof = {};
};

struct Pruned {
    std::vector<Snapshot> removed;
    std::vector<std::string> reasons;  // of each removed snapshot, in the same order
    std::vector<Snapshot> kept;
    std::vector<std::string> problems;  // snapshots that do not count, with reasons
    std::vector<std::string> others;    // files under the names of views that are no views: they stay
    /// A later session than Retention::session saved here: nothing was removed or renamed.
    std::uint32_t later_session = 0;
    /// Only from prune_line(): nothing is living now, and this line abandoned the remaining snapshots. Session 0: none
    /// remain.
    std::optional<format::Line> left_by = {};
};

/// Removes snapshots by the rules of retention.cpp: first the views, then the snapshot by discard(). It removes living
/// snapshots that are older than the `keep` newest good snapshots, and marked snapshots beyond the `keep` newest
/// marked. A good snapshot is whole and has no mark (marks.hpp). With fewer than `keep` good snapshots it removes no
/// good snapshot. An abandoned snapshot gets the name of its line. It is removed when later lines have `keep` good
/// living snapshots. Snapshots of another run stay. If a session after `what.session` saved here, nothing is removed or
/// renamed.
Result<Pruned> prune(sys::Store& store, const std::string& run, const std::string& stream, const Retention& what);

/// Goes back for good: begins a new last line that goes on from `step`, and removes the snapshots above `step` of the
/// line before. The result lists the removed snapshots; with `dry_run` nothing is removed. `session` is the holder of
/// the run lock.
Result<Pruned> prune_above(sys::Store& store, const std::string& run, const std::string& stream, std::int64_t step,
                           std::uint32_t session, bool dry_run);

/// Drops the run's current line: removes its snapshots and marks it as dropped, so the snapshots that it abandoned are
/// living again. If nothing is living, the current line is the last known line, even without a snapshot. For an earlier
/// line it removes the snapshots that the line still has. `missing` if there is nothing to drop or remove.
Result<Pruned> prune_line(sys::Store& store, const std::string& run, const std::string& stream,
                          const format::Line& line, bool dry_run);

}  // namespace forebay::catalog
