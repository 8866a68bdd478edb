// Leftovers: snapshots of dead sessions that are still staged on this node. They are found by their run, and drained by
// serving their directory once.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "path/agent/view_maker.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

/// Options of a drain of leftovers. It writes directly, or through `forwarding`. It does not use the forwarders of the
/// dead session.
struct LeftoverOptions {
    bool remove = false;  // the directory, after all of it is committed
    node::Forwarding forwarding = {};
    std::chrono::seconds nodes_wait{0};  // how long to look again for node files of other nodes
    std::string into = {};               // another run that takes the staged data as its own; "": their own run
    std::string moved_to = {};           // the present path of the run; "": the path of the session
};

/// The body of `forebay drain`: one round over a staging directory of a dead session, with its errors. `refused` if its
/// session or agent lives, or if the run's directory is gone or belongs to another run: nothing is freed then.
/// `missing` if nothing is staged there, because the session was killed as it began.
struct Drained {
    std::string stream;
    std::int64_t step = 0;  // -1: not a snapshot but the spool, with unpacked files
    std::string staged_path;
    bool committed = false;
    bool already = false;  // committed before this call
    bool waiting = false;  // all of it is at the target, but node files of other nodes are missing
    std::string text;      // the reason if it is not committed, else the files that stay beside it

    std::string name() const { return step < 0 ? stream : stream + "@" + std::to_string(step); }
};
Result<std::vector<Drained>> drain_leftover(const std::string& directory, const ViewMaker& make_view,
                                            const LeftoverOptions& options);

/// The same over several directories that may hold nodes of one snapshot: the last node commits, and the rest see the
/// commit. Other nodes may drain their part at the same time, so it looks again for `nodes_wait`, until all is
/// committed. Skips directories whose session or agent lives. `staged` is `missing` if the session was killed as it
/// began.
struct DrainedDirectory {
    std::string directory;
    Result<std::vector<Drained>> staged;
};
std::vector<DrainedDirectory> drain_leftovers(const std::vector<std::string>& directories, const ViewMaker& make_view,
                                              const LeftoverOptions& options);

/// The staging directories of dead sessions on this node, by their run. `run` is absolute. A directory that was staged
/// for another path counts as `own` only if the run's last session left it, with the key `last_run_lock` in its run
/// lock: the run was moved since. Any other directory of this identity belongs to a copy of the run.
struct Leftovers {
    std::vector<std::string> own;     // of this run, perhaps at an earlier path
    std::vector<std::string> others;  // uncommitted data of copies, or of earlier runs at this path
};
Result<Leftovers> find_leftovers(const std::string& staging, const std::string& run, std::uint64_t run_id,
                                 std::uint64_t last_run_lock);

/// Removes the status line of the agent that served `directory`, from the run of `session`: what it held was dropped.
/// Succeeds if there is none. `refused` if another run lies there now.
Result<> remove_status(const node::SessionFile& session, const std::string& directory);

}  // namespace forebay::agent
