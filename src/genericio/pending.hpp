// Files whose data are sealed and which are still being made by `forebay export genericio` in the background: what
// waits for them, and who ends their sessions. A session is closed by all ranks that opened it, in the order of their
// writes.

#pragma once

#include <optional>
#include <string>

#include "genericio/state.hpp"
#include "node/run_lock.hpp"

namespace forebay::genericio {

using behind::Settings;

struct Writing {
    Ranks ranks;
    std::string file;
    Settings settings;
    std::optional<Session> session;
    node::RunLock lock = {};  // the first rank's
    bool compress = false;
};

/// Waits for earlier writes to the name, and for the oldest of too many. The first error, which is theirs and keeps
/// nobody from writing. Collective.
Result<> finish_earlier(const Ranks& ranks, const std::string& file);
/// Makes the run of the name anew. Collective.
Result<Writing> begin(const Ranks& ranks, const std::string& file, bool compress);
/// Starts the making of the file; the session ends later. Collective.
Result<> end(Writing writing);
/// On one rank of a reader: until the file is there as its last writer left it.
Result<> await_file(const std::string& file);

/// Closes the sessions that `which` ranks opened. The first error. Collective over them.
Result<> finish_all(behind::Which which);

}  // namespace forebay::genericio
