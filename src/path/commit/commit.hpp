// Commit: the last act of the drain, by whoever sees the snapshot complete. Needs no application and no MPI.

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
    taken,       // of packed files alone: another batch has the step, and both stay
};

/// The snapshot that is to be committed, as each of its records says.
struct SnapshotKey {
    std::string run, stream;
    std::int64_t step = 0;
    format::Save save;
    std::uint32_t nodes = 0;
    format::Form form = {};
};
SnapshotKey key_of(const std::string& run, const std::string& stream, const format::Record& record);

/// Looks whether all node files of a snapshot are in its part directory; if so writes the manifest and renames the
/// directory to its final name. Idempotent; any number of agents may call it at once, and an agent may ask before it
/// drains: nothing there at all is `waiting`. Of several saves of the same step the later one has the step's name, in
/// whatever order they come (format::is_later); but batches of packed files replace nothing, whichever was sealed last.
/// Node files must be synced by their writers before they get their final names; the names are made durable here, up to
/// the entry of STREAM in RUN. All answers but `waiting` and `taken` are durable. `refused` when the node files do not
/// make one snapshot, or are of another run than `run_id`: nothing is then moved. `others` as publish() gives them.
///
/// `look_first_at` (in, out) counts for files of several nodes: it is the node whose arrival is checked first. Start
/// with your own node. After `waiting` it names a node that was missing, so the next call costs one read: an agent that
/// waits for node 7 of 64 reads the page of node 7 alone, until that node has arrived.
Result<Commit> commit_if_complete(sys::Store& store, const SnapshotKey& key, std::uint64_t run_id,
                                  std::uint32_t* look_first_at = nullptr, std::vector<std::string>* others = nullptr);

/// One leftover directory, and what recover() did with it.
struct Recovered {
    catalog::Leftover leftover;
    enum class Outcome { committed, restored, removed, incomplete } outcome = Outcome::incomplete;
    std::string text;
};

/// Finishes what a crash left at the target: commits complete parts, puts back what a cut replacement took away,
/// removes what was being removed. Of several saves of a step the later one stays (format::is_later); of batches of
/// packed files all do, under other steps. Incomplete parts, and temporary files of writers that were killed, stay
/// unless `remove_incomplete`, which is for runs that nobody drains into. What could not be finished is `incomplete`
/// with the reason; the rest is done all the same. Afterwards everything that is listed as committed is durable.
Result<std::vector<Recovered>> recover(sys::Store& store, const std::string& run, bool remove_incomplete);

}  // namespace forebay::commit
