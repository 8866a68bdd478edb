// Results are snapshots: for each analysis one snapshot of the stream "STREAM.NAME", with one node file of replicated
// variables, written directly at the target and committed. It has step, time and lineage of its source snapshot, so the
// run abandons both together. Each variable holds the id of the source.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/sys/store.hpp"
#include "insight/insitu/parts.hpp"

namespace forebay::insitu {

/// True if the results of exactly this snapshot are already committed, so no work is left.
Result<bool> has_results(sys::Store& store, const std::string& run, const SeenSnapshot& source,
                         const Analysis& analysis);

/// Reads the results found by has_results(), without pictures, to judge conditions.
Result<AnalysisResults> read_results(sys::Store& store, const std::string& run, const SeenSnapshot& source,
                                     const Analysis& analysis);

/// Writes and commits the results of one analysis, on the line of the snapshot. They replace results of an earlier save
/// of the step. `refused` if a later save has replaced the snapshot in `run`, or the run has gone back before it: these
/// results would stand under the later save's name. `run` must exist.
Result<> write_results(sys::Store& store, const std::string& run, const SeenSnapshot& source,
                       const AnalysisResults& results);

/// The file name of a picture, without directory: "fields.cut.temperature.step-000120.png".
std::string picture_file(const SeenSnapshot& source, const AnalysisResults& results, const Picture& picture);

/// Writes the picture under `name` into an existing directory. The final rename shows it whole.
Result<> write_picture(sys::Store& store, const std::string& directory, const std::string& name,
                       const Picture& picture);

}  // namespace forebay::insitu
