// Files whose data are sealed and which are still being made by `forebay export genericio` in the background: what
// waits for them, and who ends their sessions. A session is closed by all ranks that opened it, in the order of their
// writes.

#pragma once

#include <optional>
#include <string>

#include "genericio/state.hpp"
#include "sys/machine.hpp"

namespace forebay::genericio {

using behind::Settings;

struct Writing {
    Ranks ranks;
    std::string file;
    Settings settings;
    std::optional<Session> session;
    sys::FileLock lock = {};  // the first rank's
};

/// Waits for earlier writes to the name and makes its run anew. Collective.
Result<Writing> begin(const Ranks& ranks, const std::string& file);
/// Starts the making of the file; the session ends later. Collective.
Result<> end(Writing writing, bool compress);
/// On one rank of a reader: until the file is there as its last writer left it.
Result<> await_file(const std::string& file);

/// Closes the sessions that `which` ranks opened. The first error. Collective over them.
enum class Which { alone, by_ranks };
Result<> finish_all(Which which);

}  // namespace forebay::genericio
