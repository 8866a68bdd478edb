// GenericIO files whose data are sealed and which are still being made by `forebay export genericio` in the background.
// Their life is that of every file made behind the application (made/writers.hpp); here is what is GenericIO's own.

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

/// Waits for earlier writes to the name, and for the oldest of too many. The first error, which is theirs and keeps
/// nobody from writing. Collective.
Result<> finish_earlier(const made::FileRanks& ranks, const std::string& file);
/// Makes the run of the name anew. Collective.
Result<WrittenTable> begin(const GridRanks& ranks, const std::string& file, bool compress);
/// Starts the making of the file; the session ends later. Collective.
Result<> end(WrittenTable writing);
/// On one rank of a reader: until the file is there as its last writer left it.
Result<> await_file(const std::string& file);

/// Closes the sessions that `which` ranks opened. The first error. Collective over them.
Result<> finish_all(made::Which which);

}  // namespace forebay::genericio
