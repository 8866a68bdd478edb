// Results as data like any other: a snapshot of the stream "STREAM.NAME" for each analysis, of one node file with
// replicated variables, written straight at the target and committed. It has step, time and lineage of the snapshot
// that it is made of, so that it is abandoned with it, and each variable names that snapshot.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/sys/store.hpp"
#include "insight/insitu/parts.hpp"

namespace forebay::insitu {

/// Whether the results of this very snapshot are committed already, so that nothing is left to do.
Result<bool> has_results(sys::Store& store, const std::string& run, const SeenSnapshot& source,
                         const Analysis& analysis);

/// Those that has_results() has found, without pictures: what conditions are over.
Result<AnalysisResults> read_results(sys::Store& store, const std::string& run, const SeenSnapshot& source,
                                     const Analysis& analysis);

/// Writes and commits the results of one analysis, on the line of the snapshot; those of an earlier save of the step
/// are replaced. `refused` for a snapshot that a later save has replaced in `run`, or that the run has gone back
/// behind: theirs would stand under the name of the later one. `run` exists.
Result<> write_results(sys::Store& store, const std::string& run, const SeenSnapshot& source,
                       const AnalysisResults& results);

/// "fields.cut.temperature.step-000120.png": of a picture, without a directory.
std::string picture_file(const SeenSnapshot& source, const AnalysisResults& results, const Picture& picture);

/// Writes it into a directory that exists, under that name, by a rename: nobody sees a part of it.
Result<> write_picture(sys::Store& store, const std::string& directory, const std::string& name,
                       const Picture& picture);

}  // namespace forebay::insitu
