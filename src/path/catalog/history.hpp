// The snapshots of a stream in their order: which line the run is on, what belongs to it, and what was abandoned when
// the run went back (format/lineage.hpp).
//
//   RUN/STREAM/step-000310/               the step of the living line
//   RUN/STREAM/line-1.step-000310/        the same step of line 1, which a later line has abandoned
//   RUN/STREAM/.line-6.from-300           line 6 goes on from step 300, although it has no snapshot: `prune --above`;
//                                         or, if it is not empty, since its snapshots were removed
//   RUN/STREAM/.line-5.dropped            line 5 does not count any more: `prune --line`, or given_up.hpp
//
// The lines of a snapshot that is being replaced (.step-000310.ID.old) count as well: of its line it may be the only
// one. What is abandoned follows from the manifests alone; names only show it. But while a manifest cannot be read, a
// name like line-1.step-000310 counts too: that manifest may be the one that says so.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/format/lineage.hpp"
#include "core/format/manifest.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::catalog {

/// A committed snapshot and where it stands. `readable` says why a manifest cannot be read, or why the directory is no
/// place for it: it is that of another step, or holds the same save as another directory. The head is then empty but
/// for the step.
struct Version {
    Snapshot snapshot;
    format::ManifestHead head = {};
    bool set_aside = false;  // its name is that of its line
    Result<> readable = {};
};

/// The heads of the manifests of all committed snapshots of a stream, in no order. Costs a list of the directory, and
/// one read of 4 KiB for each snapshot. `missing` when the stream's directory does not exist.
Result<std::vector<Version>> heads_of(sys::Store& store, const std::string& run, const std::string& stream);

/// That of one. Costs one read of 4 KiB.
Result<format::ManifestHead> load_manifest_head(sys::Store& store, const std::string& directory);

struct History {
    std::vector<Version> living;     // newest first, with those that cannot be read
    std::vector<Version> abandoned;  // of the latest line first, and in it newest first
    std::vector<Version> foreign;    // of another run: somebody has put them here
    std::vector<format::LineStart> starts;
    std::vector<format::LineStart> marked;  // those that need no snapshot to be known
    format::Line pruned_above;              // the last one that `prune --above` began; session 0: none
    std::vector<format::Line> dropped;

    /// The line that the run is on; session 0 where nothing is there.
    format::Line line() const { return living.empty() ? format::Line{} : living.front().head.lineage.line(); }
    /// The last line that is known, whether it has a snapshot or not; session 0 where there is none.
    format::Line latest_line() const;
    /// The last session that has saved or pruned here, as far as that is still known.
    std::uint32_t last_session() const;
    /// Whether the line that the run is on was begun by `prune --above` alone, and holds nothing.
    bool was_pruned_back() const;
    /// Whether a snapshot of `line` at `step` would be abandoned, were it there.
    bool abandons(const format::Line& line, std::int64_t step) const;
};

/// `also` are snapshots that are not at the target, such as staged ones: their lines count as well. `missing` when
/// there are none and the stream's directory does not exist.
Result<History> history(sys::Store& store, const std::string& run, const std::string& stream,
                        const std::vector<format::Lineage>& also = {});

/// Those of the line that the run is on, newest first: what programs read that know no lines.
Result<std::vector<Snapshot>> living_snapshots(sys::Store& store, const std::string& run, const std::string& stream);

/// For a snapshot that is put into a stream from elsewhere: it joins the line that the run is on,
/// before all saves of its step.
Result<format::Lineage> lineage_to_join(sys::Store& store, const std::string& run, const std::string& stream);

/// Takes a snapshot that somebody has put here from another run into this one: it joins the line that the run is on.
/// Its data are not touched.
Result<> adopt(sys::Store& store, const std::string& run, const Snapshot& snapshot);

/// Gives abandoned snapshots the names of their lines, and living ones their own, so that names show what is so. Their
/// views go, which show files by their names. What others rename meanwhile is passed over. True when something got
/// another name.
Result<bool> name_by_line(sys::Store& store, const std::string& run, const History& history);

/// One of them; `directory` is RUN/STREAM/step-000310.
Result<> set_aside(sys::Store& store, const std::string& directory, std::int64_t step, const format::Save& save);

/// Says durably that a new line goes on from a step, that one did whose snapshots are being removed, or that a line
/// does not count any more.
Result<> mark_start(sys::Store& store, const std::string& stream_directory, const format::LineStart& start);
Result<> mark_removed(sys::Store& store, const std::string& stream_directory, const format::LineStart& start);
Result<> mark_dropped(sys::Store& store, const std::string& stream_directory, const format::Line& line);

}  // namespace forebay::catalog
