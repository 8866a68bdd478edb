// Packs finished small files into node files: what is in a spool directory becomes one committed snapshot of a stream
// of packed files, and only when that is durable does it go from the spool. Needs no application.
//
// A file is finished when it has a name that does not begin with a dot, in a directory that does not either: programs
// write under such a name and rename. Killed between commit and removal, the next packer packs the same file again, in
// a later batch: twice at worst, never lost.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "sys/store.hpp"

namespace forebay::drain {

struct BatchLimits {
    std::uint64_t files_max = 10'000;      // their headers are some 10 MB, in memory too
    std::uint64_t bytes_max = 256u << 20;  // but one larger file is a batch of its own
};

struct Spooled {
    std::uint64_t files = 0, bytes = 0;
};
/// What is finished in a spool now; nothing of one that does not exist.
Result<Spooled> look_at_spool(const std::string& spool);

struct Packed {
    std::uint64_t files = 0, bytes = 0;  // of this batch; none: nothing was finished
    std::int64_t step = -1;              // of the snapshot: milliseconds since 1970, or the next one that is free
};

/// Packs batch after batch of a directory of this machine into RUN/STREAM of `store`, whose name begins with "packed-".
/// Memory: a window of 8 MiB and the batch's head, and without `removes` the names of all files.
class Packer {
public:
    Packer(sys::Store& store, std::string spool, std::string run, std::string stream, bool removes = true,
           const BatchLimits& limits = {})
        : store_(store),
          spool_(std::move(spool)),
          run_(std::move(run)),
          stream_(std::move(stream)),
          removes_(removes),
          limits_(limits) {}

    /// One batch, the oldest files first; then they go from the spool, unless they were changed meanwhile. Directories
    /// stay. A file that vanishes before it is read is left out. Without `removes` no file is packed twice by a Packer.
    Result<Packed> pack_batch();

private:
    sys::Store& store_;
    const std::string spool_, run_, stream_;
    const bool removes_;
    const BatchLimits limits_;
    std::set<std::string> done_;  // paths, when they stay
};

}  // namespace forebay::drain
