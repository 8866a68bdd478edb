// Writes what a decoder found as one node file straight at the target, and commits it: the bytes go once from file to
// file, through a window of some megabytes, whatever their size. No staging: nothing computes meanwhile that a copy in
// memory would set free.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "foreign/contents.hpp"
#include "sys/store.hpp"

namespace forebay::foreign {

struct Destination {
    std::string run;  // made when it does not exist
    std::string stream;
    std::int64_t step = 0;
};

struct Written {
    std::string directory;  // RUN/STREAM/step-000120
    std::uint64_t bytes = 0;
};

/// Called with bytes done and in all.
using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

/// Durable when it returns. Checksums are made of the bytes as they were read; a snapshot of the same step that was
/// committed before is replaced. After an error nothing of it is left but, if removing fails too, a `.part` that
/// `forebay recover --stale` removes.
Result<Written> write_snapshot(sys::Store& store, const Contents& contents, const Destination& to,
                               const Progress& progress);

}  // namespace forebay::foreign
