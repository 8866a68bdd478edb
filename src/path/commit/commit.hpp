// Commit: the last act of the drain. The agent that finds the snapshot complete does it. Needs no application and no
// MPI.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/format/node_file.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::commit {

enum class Commit {
    waiting,     // node files of other nodes are still missing
    committed,   // by this call
    already,     // by another agent, or earlier
    superseded,  // a later save of the same step on the same line is committed; this one was removed
    set_aside,   // committed under the name of its line: a later line holds the step
    taken,       // only for packed files: another batch has the step, and both stay
};

/// The snapshot to commit, as each of its records describes it.
struct SnapshotKey {
    std::string run, stream;
    std::int64_t step = 0;
    format::Save save;
    std::uint32_t nodes = 0;
    format::Form form = {};
};
SnapshotKey key_of(const std::string& run, const std::string& stream, const format::Record& record);

/// Checks if all node files of a snapshot are in its part directory. If so, writes the manifest and renames the
/// directory to its final name. Idempotent. Any number of agents may call it at once, and also before they drain:
/// without any file the answer is `waiting`. If a step has several saves, the later save gets the step's name, in any
/// order of calls (format::is_later). Batches of packed files replace nothing, in any order of their seals.
///
/// Writers must sync node files before they give them final names. This call makes the names durable, up to the entry
/// of STREAM in RUN. All answers except `waiting` and `taken` are durable. `refused` if the node files do not make one
/// snapshot, or belong to another run than `run_id`: nothing is moved then. For `others` see publish().
///
/// `look_first_at` (in, out) is used for files of several nodes: it is the node whose arrival is checked first. Start
/// with your own node. After `waiting` it is a missing node, so the next call costs one read: an agent that waits for
/// node 7 of 64 reads only the page of node 7 until that node arrives.
Result<Commit> commit_if_complete(sys::Store& store, const SnapshotKey& key, std::uint64_t run_id,
                                  std::uint32_t* look_first_at = nullptr, std::vector<std::string>* others = nullptr);

/// A leftover directory, and the result of recover() for it.
struct Recovered {
    catalog::Leftover leftover;
    enum class Outcome { committed, restored, removed, incomplete } outcome = Outcome::incomplete;
    std::string text;
};

/// Finishes the work that a crash interrupted at the target: commits complete parts, puts back saves whose replacement
/// was cut, completes removals. If a step has several saves, the later save stays (format::is_later). Batches of packed
/// files all stay, under different steps. Incomplete parts and temporary files of killed writers stay, unless
/// `remove_incomplete` is set. Set it only if nobody drains into the run. A leftover that cannot be finished is
/// `incomplete` with the reason, and the remaining leftovers are still processed. After the call all snapshots that are
/// listed as committed are durable.
Result<std::vector<Recovered>> recover(sys::Store& store, const std::string& run, bool remove_incomplete);

}  // namespace forebay::commit
