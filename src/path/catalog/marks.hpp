// Marks of snapshots (format/mark.hpp). Analyses and people make them, beside drains, commits and retention.
//
//   RUN/STREAM/step-000120/.marks/1a2b3c4d.json   a mark, named by the checksum of its bytes
//   RUN/STREAM/step-000120/manifest.json          has it too
//
// A mark becomes durable beside the node files first, at the snapshot's current place: in its part, under its name, or
// aside. Then the manifest is replaced, if it exists. The committer looks for marks after it writes the manifest and
// before the rename. So one of the two sees the other, and after a crash the snapshot is marked or not yet marked. The
// files stay as long as the snapshot: if two processes write the manifest at once, the later one looks again and finds
// the other's marks. Readers call marks_of(), which reads both places.

#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/format/manifest.hpp"
#include "core/sys/store.hpp"

namespace forebay::catalog {

/// One save of a step, at its current place.
struct MarkedSave {
    std::string run, stream;
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
};

/// Marks the save, durably. Marking twice is fine. A save with format::marks_max marks gets no more, because hundreds
/// of nodes may each make a mark. `missing` if no node file of the save exists, or not yet.
Result<> mark(sys::Store& store, const MarkedSave& save, std::span<const format::Mark> marks);

/// The directory of marks beside the node files.
std::string marks_path(const std::string& directory);

/// The marks beside the node files in `directory`, by name.
Result<std::vector<format::Mark>> marks_beside(sys::Store& store, const std::string& directory);

/// All marks of a snapshot: in the manifest, and not in it yet.
Result<std::vector<format::Mark>> marks_of(sys::Store& store, const std::string& directory,
                                           const format::Manifest& manifest);

/// The newest saves of the stream with unfinished analyses: a node gave its part, and the results may still mark the
/// save. The limit is for a node that never gives its part.
inline constexpr std::size_t saves_in_analysis_max = 8;
Result<std::set<std::uint64_t>> saves_in_analysis(sys::Store& store, const std::string& run, const std::string& stream);

/// Copies marks beside the manifest into the manifest in `directory`. True if it changed the manifest; false also if
/// there is no manifest.
Result<bool> complete_marks(sys::Store& store, const std::string& directory);

/// Removes these marks of a committed snapshot, for people who have read them. Marks that come meanwhile stay.
Result<> unmark(sys::Store& store, const std::string& directory, std::span<const format::Mark> which);

}  // namespace forebay::catalog
