// A place on the command line: a run, a stream, or one snapshot.
//
//   RUN   RUN/STREAM   RUN@STEP   RUN/STREAM@STEP   RUN/STREAM/step-000120      STEP is a number or "last"
//   RUN/STREAM/line-1.step-000120      of an abandoned line

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "path/catalog/catalog.hpp"
#include "program/run_argument.hpp"

namespace forebay::cli {

struct Place {
    std::string run;
    std::vector<std::string> streams;  // the given stream, or all of the run
    bool stream_named = false;
    std::optional<std::int64_t> step;
    bool last = false;
    std::string directory = {};  // of one snapshot with the name of its line

    bool names_snapshot() const { return step.has_value() || last; }
};

/// `required` if the verb takes only RUN/STREAM.
enum class StreamNeed { optional, required };

/// Returns `missing` if there is no such run, with the errors of find_run(). A run without streams gives none.
Result<Place> find_place(sys::Store& store, const std::string& text, StreamNeed need = StreamNeed::optional);

/// The same for a place to write to: a missing run or stream is a run without streams. Returns `missing` for a file.
Result<Place> find_place_to_write(sys::Store& store, const std::string& text);

/// True if `text` ends in "@STEP" or "@last" and is no existing path: a snapshot, not a tree of files.
Result<bool> names_snapshot(sys::Store& store, const std::string& text);

/// The committed snapshot of `place`; without a step the last snapshot. Returns `refused` with the candidates if
/// several streams have it, unless all but one are results of analyses. Returns `missing` with the existing steps.
Result<catalog::Snapshot> one_snapshot(sys::Store& store, const Place& place);

/// "restart@120", or "restart/line-1.step-000120" for an abandoned line.
std::string place_text(const catalog::Snapshot& snapshot);

}  // namespace forebay::cli
