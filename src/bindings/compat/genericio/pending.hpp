// GenericIO files that are sealed, and that `forebay export genericio` is still making in the background. Their life is
// described in made/writers.hpp; this file has GenericIO's part.

#pragma once

#include <optional>
#include <string>

#include "bindings/compat/genericio/state.hpp"
#include "bindings/compat/made/writers.hpp"

namespace forebay::genericio {

struct WrittenTable : made::WrittenFile {
    std::optional<Session> session = {};

    Result<> close_session() { return session->close(); }
};

/// Waits for earlier writes to the name, and for the oldest files if too many are unfinished. Returns their first
/// error, which does not prevent the new write. Collective.
Result<> finish_earlier(const made::FileRanks& ranks, const std::string& file);
/// Makes a new run for the name. Collective.
Result<WrittenTable> begin(const GridRanks& ranks, const std::string& file, bool compress);
/// Starts the process that makes the file. The session ends later. Collective.
Result<> end(WrittenTable writing);
/// Waits, on one rank of a reader, until the file is complete as its last writer left it.
Result<> await_file(const std::string& file);

/// Closes the sessions that `which` ranks opened. Returns the first error. Collective over these ranks.
Result<> finish_all(made::Which which);

}  // namespace forebay::genericio
