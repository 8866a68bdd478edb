// Packs finished small files into node files: the files of a spool directory become one committed snapshot of a stream
// of packed files. Only when the snapshot is durable are they removed from the spool. Needs no application.
//
// A file is finished if neither its name nor the name of a parent directory begins with a dot: programs write under
// such a name and rename. If a packer is killed between commit and removal, the next packer packs the same file again,
// in a later batch: twice at worst, never lost. Any number of packers may pack into one stream.

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
    std::uint64_t bytes_max = 256u << 20;  // but a single larger file is a batch of its own
};

struct Packed {
    std::uint64_t files = 0, bytes = 0;  // of this batch; 0: nothing was finished, except the files that are left out
    std::int64_t step = -1;              // of the snapshot: milliseconds since 1970, or a later free step
};

/// Packs the files of a local directory, batch after batch, into RUN/STREAM of `store`. The stream's name begins with
/// "packed-". Memory: a window of 8 MiB and the batch's head; without `removes` also the names of all files. With
/// `run_id` RUN must be that very run, else it is created if it is missing.
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

    /// Packs one batch, oldest files first, then removes these files from the spool unless they changed meanwhile.
    /// Directories stay. Unreadable files are left out and the rest is packed. An error is an error of the target.
    /// Without `removes` a Packer packs no file twice.
    Result<Packed> pack_batch();

    /// The files that the last pack_batch() left in place: unreadable files, and packed files that changed since or
    /// cannot be removed. The list is complete if that batch had no files.
    std::vector<LeftOut> left_out() const;

    /// Tries unreadable files again.
    void try_again();

private:
    /// A file that stayed, and the reason.
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
