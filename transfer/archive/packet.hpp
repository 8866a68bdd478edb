// Entries formed by one thread and written to the archive at once, with the work that must wait for the write: a link's
// target must lie before the link, and a directory after its entries.
//
// Threads: only its own thread.

#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/sys/tree.hpp"
#include "transfer/archive/head.hpp"
#include "transfer/tables/hard_links.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::archive {

struct Packet {
    /// Place of an entry's head in the packet, and of the checksums in the head.
    struct HeadPlace {
        std::size_t at = 0, bytes = 0, sums_at = 0;
    };
    /// Room for `count` more bytes at the end. commit() keeps them as one entry.
    std::span<std::byte> room(std::size_t count) {
        if (used + count > capacity) {
            capacity = std::max(used + count, 2 * capacity);
            auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
            if (used > 0) std::memcpy(larger.get(), bytes.get(), used);
            bytes = std::move(larger);
        }
        return {bytes.get() + used, count};
    }
    void commit(std::size_t count, const Head& head) {
        heads.push_back({.at = used, .bytes = head.bytes.size(), .sums_at = head.sums_at});
        used += count;
    }
    bool is_empty() const { return used == 0 && holds.empty() && stored.empty(); }

    std::unique_ptr<std::byte[]> bytes;
    std::size_t used = 0, capacity = 0;
    std::vector<HeadPlace> heads;
    std::vector<tree::DirNodeRef> holds;  // their entries are in the packet; each counts once in `pending`
    std::vector<std::pair<sys::EntryStatus, tree::EntryPlace>> stored;  // inodes with several names in the packet

    struct Link {
        tree::EntryPlace own, first;
        sys::EntryKind kind = sys::EntryKind::unknown;
    };
    // Work that may begin, because the entries before it have their places.
    std::deque<Link> links;
    std::deque<tree::DirNodeRef> written;
};

}  // namespace forebay::archive
