// Makes the H5Part file NAME from the snapshots in NAME.forebay: one HDF5 file that needs no other files. It is whole
// and durable under its name, or absent. The snapshots stay until then.
//
// Rows are in the order of the world's ranks, for any placement of ranks on nodes. Every segment is verified before it
// is written. Used by `forebay h5part`, which the H5Part library starts when a file is closed.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::made {

struct H5PartMaking {
    std::string file;
    std::int64_t snapshots = -1;            // how many to expect; -1: from the file `expected`, else what exists
    std::chrono::milliseconds wait_max{0};  // for snapshots that are not committed yet
    bool keep = false;                      // keep the run after the file is durable
    bool partial = false;                   // without `expected`: go on even if some snapshots are only partly drained
    std::uint64_t align_bytes = 0;          // larger datasets than half of it begin at its multiples; 0: 1 MiB
    bool background = false;                // in its own process (FileMaker::begin)
    std::function<Result<>()> begin = {};   // called first, when the lock is held
    std::function<void(std::uint64_t, std::uint64_t)> progress = {};  // called with bytes done and bytes in all
};

struct H5PartMade {
    bool was_there = false;  // nothing was left to do
    std::uint64_t steps = 0, datasets = 0, bytes = 0;
};

/// `retry` if another process makes the same file, or if the wait was too short. `missing` without a run.
Result<H5PartMade> make_h5part_file(sys::Store& store, const H5PartMaking& making);

}  // namespace forebay::made
