// Publish: the rename that makes a complete directory the committed snapshot of its step. Any number of agents may do
// it at once, for this save and for more saves of the same step, also beside recover(). The save that was sealed later
// wins, in any order of the agents.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format/manifest.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/catalog.hpp"
#include "path/commit/commit.hpp"

namespace forebay::commit {

using format::Save;

/// The step of a stream under which a snapshot is committed.
struct SnapshotPlace {
    std::string run;
    std::string stream;
    std::int64_t step = 0;

    std::string stream_directory() const { return run + "/" + stream; }
    std::string final_directory() const { return stream_directory() + "/" + catalog::step_name(step); }
};

/// Returns the directory in which this very save is committed: under its step or under its line. Makes its names
/// durable.
Result<std::optional<std::string>> find_committed(sys::Store& store, const SnapshotPlace& place, const Save& save);

/// Gives `directory` the final name of its step. Its files and manifest must be durable. The answer is durable:
///
/// - `committed`: the name was free, or an earlier save of the same line had it. The view of the earlier save goes
///   first, because it would show the new bytes under the old layout. Then the save moves aside. It is removed when
///   the new name is durable. If a snapshot of an earlier line has the name, it moves to the name of its line.
/// - `already`: this very save has the name.
/// - `set_aside`: a later line has the step, so this save gets the name of its line.
/// - `superseded`: a later whole save of the line has the name. `directory` is removed.
/// - `taken`: only for a batch of packed files, if the name is not free. `directory` stays.
///
/// If `directory` is gone, or other agents take the name again and again, the call returns the error of the rename.
/// `others` (may be null) gets paths that have the name of a view of the replaced save but are no views: they stay.
Result<Commit> publish(sys::Store& store, const SnapshotPlace& place, const std::string& directory,
                       const format::ManifestHead& head, std::vector<std::string>* others = nullptr);

}  // namespace forebay::commit
