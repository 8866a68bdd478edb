// Publish: the rename that makes a complete directory the committed snapshot of its step. Any number of agents may do
// it at once, for this save and for other saves of the same step, and recover() may run beside them. The save that was
// sealed later wins, in whatever order the agents come.

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

/// Where a step of a stream is committed.
struct SnapshotPlace {
    std::string run;
    std::string stream;
    std::int64_t step = 0;

    std::string stream_directory() const { return run + "/" + stream; }
    std::string final_directory() const { return stream_directory() + "/" + catalog::step_name(step); }
};

/// Where this very save is committed, under the name of its step or of its line; its names are then durable.
Result<std::optional<std::string>> find_committed(sys::Store& store, const SnapshotPlace& place, const Save& save);

/// Gives `directory`, whose files and manifest are durable, the final name of its step. A snapshot of an earlier line
/// that has the name is set aside under the name of its line. An earlier save of the same line there is replaced: its
/// view is removed first, which would show the new bytes under the old layout; then it is moved aside, and removed when
/// the new name is durable. `already` when this very save is there; `set_aside`, under the name of its line, when a
/// later line has the step; `superseded`, and `directory` removed, when a later whole save of the line has. A batch of
/// packed files takes a name only if it is free: `taken` when it is not, and `directory` stays. What it answers is
/// durable. A `directory` that is gone, or a name that others keep taking, ends with the error of the rename. `others`
/// (may be null) gets the paths of what stands under names of views of the save that was replaced, and is none: it
/// stays.
Result<Commit> publish(sys::Store& store, const SnapshotPlace& place, const std::string& directory,
                       const format::ManifestHead& head, std::vector<std::string>* others = nullptr);

}  // namespace forebay::commit
