// Open node files with their heads: a limited number at a time.
//
// Threads: several may use it at once. The result of take() stays valid after its removal from this cache.

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
    /// All arguments must outlive it. `contents` belongs to the snapshots, in the same order.
    OpenNodes(sys::Store& store, std::span<const catalog::Snapshot> snapshots,
              std::span<const outline::Contents> contents)
        : store_(store), snapshots_(snapshots), contents_(contents) {}

    /// `corrupt` if it is not the committed file.
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
    std::list<Kept> kept_;  // most recently used first
    std::uint64_t kept_bytes_ = 0;
};

}  // namespace forebay::views
