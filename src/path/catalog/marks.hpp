// Marks of snapshots (format/mark.hpp): made by analyses and by people, beside drains, commits and retention.
//
//   RUN/STREAM/step-000120/.marks/1a2b3c4d.json    a mark, named by the checksum of its bytes
//   RUN/STREAM/step-000120/manifest.json           has it too
//
// A mark is made durable beside the node files first, wherever the snapshot is by then: in its part, under its name, or
// aside. Then the manifest is replaced, if there is one; else whoever commits the snapshot looks for marks after it has
// written the manifest and before the snapshot gets its name. So of the two one sees the other, and a crash at any
// operation leaves a snapshot that is marked or not yet. The files stay as long as the snapshot: of two that write the
// manifest at once the later one looks again, and finds what the other has added. Readers ask marks_of(), which knows
// both.

#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/format/manifest.hpp"
#include "core/sys/store.hpp"

namespace forebay::catalog {

/// One save of a step, wherever it is.
struct MarkedSave {
    std::string run, stream;
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
};

/// Marks it, durably; done before is fine. What has format::marks_max marks is marked, and gets no more of them: nodes
/// by hundreds may each have something to say. `missing` where no node file of the save is there any more, or none yet.
Result<> mark(sys::Store& store, const MarkedSave& save, std::span<const format::Mark> marks);

/// The directory of them beside the node files.
std::string marks_path(const std::string& directory);

/// The marks that lie beside the node files in `directory`, by their names.
Result<std::vector<format::Mark>> marks_beside(sys::Store& store, const std::string& directory);

/// The marks of a snapshot: those of its manifest, and those that are not in it yet.
Result<std::vector<format::Mark>> marks_of(sys::Store& store, const std::string& directory,
                                           const format::Manifest& manifest);

/// The newest saves of the stream that nodes have given parts of to their analyses: they may be marked until the
/// results are there. Where a node never gives its part there would be no end of them.
inline constexpr std::size_t saves_in_analysis_max = 8;
Result<std::set<std::uint64_t>> saves_in_analysis(sys::Store& store, const std::string& run, const std::string& stream);

/// Brings into the manifest in `directory` what lies beside it. Whether there was anything to do; where there is no
/// manifest, there is not.
Result<bool> complete_marks(sys::Store& store, const std::string& directory);

/// Takes these marks of a committed snapshot away, for people who have seen them: others that come meanwhile stay.
Result<> unmark(sys::Store& store, const std::string& directory, std::span<const format::Mark> which);

}  // namespace forebay::catalog
