// Makes the H5Part file NAME of the snapshots in NAME.forebay: one HDF5 file that needs nothing beside it. It is whole
// and durable under its name, or not there at all; what it is made of stays until then.
//
// Rows stand in the order of the world's ranks, whichever node they were staged on. Every segment is verified before it
// is written. Users: `forebay h5part`, which the H5Part library starts when a file is closed.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::made {

struct H5PartMaking {
    std::string file;
    std::int64_t snapshots = -1;  // that the run will have; -1: as its file `expected` says, else what is there
    std::chrono::milliseconds wait_max{0};  // for those that are not committed yet
    bool keep = false;                      // the run, once the file is durable
    bool partial = false;                   // without `expected`: also when snapshots are only partly drained
    std::uint64_t align_bytes = 0;          // datasets of at least half as much begin at its multiples; 0: 1 MiB
    bool background = false;                // in a process of its own (FileMaker::begin)
    std::function<Result<>()> begin = {};   // once the lock is held: what is to be done first
    std::function<void(std::uint64_t, std::uint64_t)> progress = {};  // bytes done and in all
};

struct H5PartMade {
    bool was_there = false;  // nothing was left to do
    std::uint64_t steps = 0, datasets = 0, bytes = 0;
};

/// `retry` while another process makes the same file, or when the wait was too short; `missing` without a run.
Result<H5PartMade> make_h5part_file(sys::Store& store, const H5PartMaking& making);

}  // namespace forebay::made
