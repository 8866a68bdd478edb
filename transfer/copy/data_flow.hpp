// Rate limit, counts and progress reports for all files of a copy.
//
// Threads: any.

#pragma once

#include "transfer/copy/copy.hpp"
#include "transfer/copy/file_data.hpp"
#include "transfer/walk/pulse.hpp"
#include "transfer/walk/work_share.hpp"

namespace forebay::tree {

class DataFlow {
public:
    DataFlow(const TreeCopyOptions& options, CopyCounts& counts, const WorkShare& share)
        : options_(options),
          counts_(counts),
          share_(share),
          pace_(options.rate_bytes_per_second, options.shared_turn) {}

    DataWay way() {
        return {.pace = &pace_,
                .stop = &share_.stopped(),
                .by_kernel = &by_kernel_,
                .moved =
                    [this](std::uint64_t bytes) {
                        counts_.bytes += bytes;
                        tick();
                    },
                .resumed = [this](std::uint64_t bytes) { counts_.resumed_bytes += bytes; }};
    }
    /// This process's share of --rate.
    void set_rate(std::uint64_t bytes_per_second) { pace_.set_rate(bytes_per_second); }
    void tick() {
        if (options_.watch) pulse_.beat([this] { options_.watch(counts_); });
    }

private:
    const TreeCopyOptions& options_;
    CopyCounts& counts_;
    const WorkShare& share_;
    move::Pace pace_;
    std::atomic<bool> by_kernel_{true};
    Pulse pulse_;
};

}  // namespace forebay::tree
