// Publish: the rename that makes a complete directory the committed snapshot of its step, in a race with any number of
// agents, of this save and of others of the same step, and with recover. The later save wins, whoever comes last.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "drain/commit.hpp"
#include "sys/store.hpp"

namespace forebay::drain {

/// One save of one step, and when it was sealed.
struct Save {
    std::uint64_t snapshot_id = 0;
    std::int64_t sealed_unix_ns = 0;
};

/// Where a step of a stream is committed.
struct Place {
    std::string run;
    std::string stream;
    std::int64_t step = 0;

    std::string stream_directory() const { return run + "/" + stream; }
    std::string final_directory() const { return stream_directory() + "/" + catalog::step_name(step); }
};

/// The save that lies under a directory's name by its manifest; `missing` or `corrupt` as load_manifest().
Result<Save> save_in(sys::Store& store, const std::string& directory);

/// Whether this very save is committed; its names are then durable.
Result<bool> find_committed(sys::Store& store, const Place& place, std::uint64_t snapshot_id);

/// Gives `directory`, whose files and manifest are durable, the final name of its step. An earlier save there is
/// replaced: its view is removed first, which would show the new bytes under the old layout; then it is moved aside,
/// and removed when the new name is durable. `already` when this very save is there, `superseded`, and `directory`
/// removed, when a later whole one is. What it answers is durable. A `directory` that is gone, or a name that others
/// keep taking, ends with the error of the rename. `others` (may be null) gets the paths of what stands under names of
/// views of the save that was replaced, and is none: it stays.
Result<Commit> publish(sys::Store& store, const Place& place, const std::string& directory, const Save& save,
                       std::vector<std::string>* others = nullptr);

}  // namespace forebay::drain
