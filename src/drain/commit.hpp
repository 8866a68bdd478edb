// Commit: the last act of the drain, by whoever sees the snapshot complete. Needs no application and no MPI.

#pragma once

#include <cstdint>
#include <string>

#include "catalog/catalog.hpp"
#include "format/node_file.hpp"
#include "sys/store.hpp"

namespace forebay::drain {

enum class Commit {
    waiting,    // node files of other nodes are still missing
    committed,  // by this call
    already,    // by another agent, or earlier
};

/// Looks whether all node files of a snapshot are in its part directory; if so writes the manifest and renames the
/// directory to its final name. Idempotent; any number of agents may call it at once. A committed snapshot of the
/// same step by another save is replaced.
Result<Commit> commit_if_complete(sys::Store& store, const std::string& run, const std::string& stream,
                                  std::int64_t step, std::uint64_t snapshot_id, std::uint32_t nodes);

/// What recover() did with one leftover directory.
struct Recovered {
    catalog::Leftover leftover;
    enum class Outcome { committed, restored, removed, incomplete } outcome = Outcome::incomplete;
    std::string text;
};

/// Finishes what a crash left at the target: commits complete parts, puts back what a cut replacement took away,
/// removes what was being removed. Incomplete parts stay unless `remove_incomplete`.
Result<std::vector<Recovered>> recover(sys::Store& store, const std::string& run, bool remove_incomplete);

}  // namespace forebay::drain
