// Packs finished small files into node files: what is in a spool directory becomes one committed snapshot of a stream
// of packed files, and only when that is durable does it go from the spool. Needs no application.
//
// A file is finished when it has a name that does not begin with a dot, in a directory that does not either: programs
// write under such a name and rename. Killed between commit and removal, the next packer packs the same file again, in
// a later batch: twice at worst, never lost. Any number of packers may pack into one stream.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/sys/store.hpp"
#include "path/agent/finished.hpp"

namespace forebay::agent {

struct BatchLimits {
    std::uint64_t files_max = 10'000;      // their headers are some 10 MB, in memory too
    std::uint64_t bytes_max = 256u << 20;  // but one larger file is a batch of its own
};

struct Packed {
    std::uint64_t files = 0, bytes = 0;  // of this batch; none: nothing was finished, but for what is left out
    std::int64_t step = -1;              // of the snapshot: milliseconds since 1970, or a later one that is free
};

/// Packs batch after batch of a directory of this machine into RUN/STREAM of `store`, whose name begins with "packed-".
/// Memory: a window of 8 MiB and the batch's head, and without `removes` the names of all files. With `run_id` RUN must
/// be that very run, else it is made if it is missing.
class Packer {
public:
    Packer(sys::Store& store, std::string spool, std::string run, std::string stream, bool removes = true,
           const BatchLimits& limits = {}, std::optional<std::uint64_t> run_id = {})
        : store_(store),
          spool_(std::move(spool)),
          run_(std::move(run)),
          stream_(std::move(stream)),
          removes_(removes),
          limits_(limits),
          run_id_(run_id) {}

    /// One batch, the oldest files first; then they go from the spool, unless they were changed meanwhile. Directories
    /// stay. What cannot be read is left out and the others are packed; an error is one of the target. Without
    /// `removes` no file is packed twice by a Packer.
    Result<Packed> pack_batch();

    /// The files that the last pack_batch() left where they are: those that cannot be read, and those that are packed
    /// but were changed since, or cannot be removed. Complete when that batch had no files.
    std::vector<LeftOut> left_out() const;

    /// Files that could not be read are tried again.
    void try_again();

private:
    /// A file that stayed, and why.
    struct Stayed {
        sys::LocalFile seen;
        std::optional<Error> why;  // none: it is meant to stay
        bool is_packed = false;
        int times = 0;
    };

    std::vector<FinishedFile> next_files();
    Result<Packed> pack(std::vector<FinishedFile> files, std::uint64_t run_id);
    void clear_away(const std::vector<FinishedFile>& files);
    void stays(const FinishedFile& file, bool is_packed, std::optional<Error> why);

    sys::Store& store_;
    const std::string spool_, run_, stream_;
    const bool removes_;
    const BatchLimits limits_;
    const std::optional<std::uint64_t> run_id_;
    std::map<std::string, Stayed> stayed_;  // by path
    std::vector<LeftOut> not_seen_;         // of the last look
};

}  // namespace forebay::agent
