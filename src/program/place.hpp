// What a person names on the command line: a run, a stream of it, or one snapshot.
//
//   RUN   RUN/STREAM   RUN@STEP   RUN/STREAM@STEP   RUN/STREAM/step-000120      STEP is a number or "last"
//   RUN/STREAM/line-1.step-000120      of a line that the run has left

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
    std::vector<std::string> streams;  // the one that was named, else all of the run
    bool stream_named = false;
    std::optional<std::int64_t> step;
    bool last = false;
    std::string directory = {};  // of one snapshot that has the name of its line

    bool names_snapshot() const { return step.has_value() || last; }
};

/// Whether the verb takes RUN/STREAM only.
enum class StreamNeed { optional, required };

/// `missing` if there is no such run: the errors of find_run(). A run without streams has none.
Result<Place> find_place(sys::Store& store, const std::string& text, StreamNeed need = StreamNeed::optional);

/// The same for a place to write to: a run or a stream that does not exist yet is a run without streams. `missing` for
/// a file.
Result<Place> find_place_to_write(sys::Store& store, const std::string& text);

/// Whether `text` ends in "@STEP" or "@last" and is no path that exists: so it names a snapshot, and no tree of files.
Result<bool> names_snapshot(sys::Store& store, const std::string& text);

/// The one committed snapshot that `place` names; without a step, the last one. `refused` when several streams have it,
/// with what could be meant, unless all but one of them are results of analyses; `missing` with what there is.
Result<catalog::Snapshot> one_snapshot(sys::Store& store, const Place& place);

/// "restart@120", or "restart/line-1.step-000120" of a line that the run has left.
std::string place_text(const catalog::Snapshot& snapshot);

}  // namespace forebay::cli
