// The history of a stream: the run's current line, its living snapshots, and the snapshots abandoned when the run went
// back (format/lineage.hpp).
//
//   RUN/STREAM/step-000310/            the step of the living line
//   RUN/STREAM/line-1.step-000310/     the same step of line 1, abandoned by a later line
//   RUN/STREAM/.line-6.from-300        line 6 goes on from step 300 but has no snapshot. Empty: by `prune --above`;
//                                      not empty: its snapshots were removed
//   RUN/STREAM/.line-5.dropped         line 5 does not count any more: by `prune --line`, or see given_up.hpp
//
// Lines of a snapshot that is being replaced (.step-000310.ID.old) also count: it may be the only snapshot of its line.
// The manifests decide what is abandoned; the names only show it. But while a manifest cannot be read, a name like
// line-1.step-000310 also counts, because that manifest may be the cause.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/format/lineage.hpp"
#include "core/format/manifest.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::catalog {

/// A committed snapshot and its place. `readable` has the error if the manifest cannot be read, has another step than
/// the directory, or has the same save as another directory. Then only the step of the head is set.
struct Version {
    Snapshot snapshot;
    format::ManifestHead head = {};
    bool set_aside = false;  // its directory has the name of its line
    Result<> readable = {};
};

/// The manifest heads of all committed snapshots of a stream, in any order. Costs one list of the directory, and one
/// read of 4 KiB for each snapshot. `missing` if the stream's directory does not exist.
Result<std::vector<Version>> heads_of(sys::Store& store, const std::string& run, const std::string& stream);

/// The manifest head of one snapshot. Costs one read of 4 KiB.
Result<format::ManifestHead> load_manifest_head(sys::Store& store, const std::string& directory);

struct History {
    std::vector<Version> living;     // newest first, with unreadable snapshots
    std::vector<Version> abandoned;  // latest line first, in a line newest first
    std::vector<Version> foreign;    // of another run: somebody put them here
    std::vector<format::LineStart> starts;
    std::vector<format::LineStart> marked;  // starts that are known without a snapshot
    format::Line pruned_above;              // the last line begun by `prune --above`; session 0: none
    std::vector<format::Line> dropped;

    /// The run's current line; session 0 if no snapshot is living.
    format::Line line() const { return living.empty() ? format::Line{} : living.front().head.lineage.line(); }
    /// The last known line, with or without snapshots; session 0 if there is none.
    format::Line latest_line() const;
    /// The last session that saved or pruned here, as far as it is still known.
    std::uint32_t last_session() const;
    /// True if `prune --above` began the current line and the line has no snapshot.
    bool was_pruned_back() const;
    /// True if a snapshot of `line` at `step` would be abandoned.
    bool abandons(const format::Line& line, std::int64_t step) const;
};

/// `also` has lineages of snapshots that are not at the target, such as staged snapshots: their lines count too.
/// `missing` if `also` is empty and the stream's directory does not exist.
Result<History> history(sys::Store& store, const std::string& run, const std::string& stream,
                        const std::vector<format::Lineage>& also = {});

/// The living snapshots, newest first: for programs that do not know lines.
Result<std::vector<Snapshot>> living_snapshots(sys::Store& store, const std::string& run, const std::string& stream);

/// The lineage for a snapshot put into a stream from elsewhere. It joins the run's current line, before all saves of
/// its step.
Result<format::Lineage> lineage_to_join(sys::Store& store, const std::string& run, const std::string& stream);

/// Makes a snapshot of another run part of this run: it joins the current line. Its data do not change.
Result<> adopt(sys::Store& store, const std::string& run, const Snapshot& snapshot);

/// Renames abandoned snapshots to the names of their lines, and living snapshots back to their own names. Removes their
/// views, because a view refers to files by name. If another process renames a snapshot meanwhile, it is skipped.
/// Returns true if a name changed.
Result<bool> name_by_line(sys::Store& store, const std::string& run, const History& history);

/// Renames one snapshot to the name of its line. `directory` is RUN/STREAM/step-000310.
Result<> set_aside(sys::Store& store, const std::string& directory, std::int64_t step, const format::Save& save);

/// Each makes an empty or short file, durably: a new line goes on from a step; a line whose snapshots are being removed
/// had this start; a line does not count any more.
Result<> mark_start(sys::Store& store, const std::string& stream_directory, const format::LineStart& start);
Result<> mark_removed(sys::Store& store, const std::string& stream_directory, const format::LineStart& start);
Result<> mark_dropped(sys::Store& store, const std::string& stream_directory, const format::Line& line);

}  // namespace forebay::catalog
