// Node files that are open for reading, with their heads: a few at a time, however many there are.
//
// Threads: may be used by several at once. What take() gives stays valid when it is no longer kept.

#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>

#include "insight/outline/contents.hpp"
#include "path/catalog/block_reader.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::views {

class OpenNodes {
public:
    /// All must outlive it; `contents` are those of the snapshots, in the same order.
    OpenNodes(sys::Store& store, std::span<const catalog::Snapshot> snapshots,
              std::span<const outline::Contents> contents)
        : store_(store), snapshots_(snapshots), contents_(contents) {}

    /// `corrupt` when it is not the file that was committed.
    Result<std::shared_ptr<const catalog::BlockReader>> take(std::uint32_t snapshot, std::uint32_t node);

private:
    struct Kept {
        std::uint32_t snapshot = 0, node = 0;
        std::uint64_t bytes = 0;
        std::shared_ptr<const catalog::BlockReader> open;
    };

    sys::Store& store_;
    std::span<const catalog::Snapshot> snapshots_;
    std::span<const outline::Contents> contents_;
    std::mutex mutex_;
    std::list<Kept> kept_;  // the last one used first
    std::uint64_t kept_bytes_ = 0;
};

}  // namespace forebay::views
