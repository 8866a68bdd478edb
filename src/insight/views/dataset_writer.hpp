// Copies dataset elements from node files into an export's file, window by window. Each thread fills a window of the
// file in memory and writes it in one piece, so storage gets large writes at multiples of the window for any
// decomposition.
//
// Life:    one call of run() copies a stretch of the file, or ends with an error.
// Threads: a call starts its own threads. Several writers may share the arguments for different stretches.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>

#include "core/move/flow.hpp"
#include "insight/views/dataset_source.hpp"

namespace forebay::views {

struct CopyOptions {
    int threads = 1;
    std::uint64_t window_bytes = 16u << 20;
    std::uint64_t read_bytes = 4u << 20;      // of the sources, at once
    std::uint64_t rate_bytes_per_second = 0;  // 0: no limit
    const std::atomic<bool>* stop = nullptr;
};

struct Copied {
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t writes = 0;
};

class DatasetWriter {
public:
    /// `targets` must be sorted by offset. All arguments must outlive it.
    DatasetWriter(sys::File& file, std::span<const DatasetTarget> targets, OpenNodes& nodes, const CopyOptions& options)
        : file_(file), targets_(targets), nodes_(nodes), options_(options) {}

    /// Called by one thread at a time with the offset below which the whole stretch is written, and the bytes written
    /// by this call. An error from it ends the call.
    using Reached = std::function<Result<>(std::uint64_t offset, std::uint64_t bytes)>;

    /// Writes all target bytes at offsets [begin, end) of the file. Does not sync. `retry` if stopped.
    Result<Copied> run(std::uint64_t begin, std::uint64_t end, const Reached& reached);

private:
    class Run;
    sys::File& file_;
    std::span<const DatasetTarget> targets_;
    OpenNodes& nodes_;
    const CopyOptions& options_;
};

}  // namespace forebay::views
