// Leftovers: snapshots that dead sessions left staged on this node. They are found by the run whose they are, and
// drained by serving their directory once.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "path/agent/view_maker.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

/// Options of a drain of leftovers. It writes itself, or through `forwarding`; not through the forwarders that the
/// session had.
struct LeftoverOptions {
    bool remove = false;  // the directory, when all of it is committed
    node::Forwarding forwarding = {};
    std::string into = {};      // another run, which takes what is staged as its own; "": the one that it is of
    std::string moved_to = {};  // where the run is now, of that identity; "": where the session had it
};

/// The body of `forebay drain`: one round over what a dead session left in a staging directory, with the errors it met.
/// `refused` while its session or its agent lives, and where the run's directory is gone or another run's: then nothing
/// is freed. `missing` when nothing is staged there, by a session that was killed as it began.
struct Drained {
    std::string stream;
    std::int64_t step = 0;  // -1: not a snapshot but the spool, of which something is not packed
    std::string staged_path;
    bool committed = false;
    bool already = false;  // it was, before this call
    bool waiting = false;  // all of it is at the target, but node files of other nodes are not
    std::string text;      // why it is not committed; of one that is, what stays beside it

    std::string name() const { return step < 0 ? stream : stream + "@" + std::to_string(step); }
};
Result<std::vector<Drained>> drain_leftover(const std::string& directory, const ViewMaker& make_view,
                                            const LeftoverOptions& options);

/// The same over several directories, which may hold nodes of one snapshot: the last of them commits, and the others
/// then see it. Passes over those whose session or agent lives; `staged` is `missing` for what was killed as it began.
struct DrainedDirectory {
    std::string directory;
    Result<std::vector<Drained>> staged;
};
std::vector<DrainedDirectory> drain_leftovers(const std::vector<std::string>& directories, const ViewMaker& make_view,
                                              const LeftoverOptions& options);

/// The staging directories of dead sessions on this node, by the run whose they are. `run` is absolute. Of one that
/// staged for another path only what the run's last session left is taken, whose claim had the key `last_run_lock`: the
/// run has been moved since. Anything else of this identity is of a copy of the run.
struct Leftovers {
    std::vector<std::string> own;     // of this run, perhaps when it lay elsewhere
    std::vector<std::string> others;  // of runs that lay at this path before, or of copies; with what is not committed
};
Result<Leftovers> find_leftovers(const std::string& staging, const std::string& run, std::uint64_t run_id,
                                 std::uint64_t last_run_lock);

}  // namespace forebay::agent
