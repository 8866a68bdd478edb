// Files that were closed and are still being made of their steps, by `forebay h5part` in the background: what waits for
// them, and who ends their sessions. One list in a process, since H5Part's calls share no handle.
//
// A session is closed by all ranks that opened it, in the order in which their files were closed.

#pragma once

#include <string>

#include "api/behind.hpp"
#include "h5part/writer.hpp"
#include "node/run_lock.hpp"

namespace forebay::h5part {

/// A writer's session, its run, and the lock that says so (on the first rank).
struct Writing {
    Ranks ranks;
    std::string file;
    Settings settings;
    std::unique_ptr<Writer> writer;
    node::RunLock lock = {};
    std::uint64_t align_bytes = 0;
    bool stays = false;  // the file was there when it was opened, and keeps its steps
};

/// Makes the run's directory for a new writer: after it, `appends` says whether the file has steps that stay.
/// Collective.
Result<Writing> begin_writing(const Ranks& ranks, const std::string& file, bool appends, std::uint64_t align_bytes);

/// Ends the last step and starts the making of the file. Collective.
Result<> end_writing(Writing writing);

/// On the first rank of a reader: waits until the file of that name is there as its last writer closed it.
Result<> await_file(const std::string& file);

/// Closes the sessions of these ranks whose steps are committed, and all of them where the process ends. The first
/// error. Collective.
Result<> finish_committed(const Ranks& ranks);
Result<> finish_all(behind::Which which);

}  // namespace forebay::h5part
