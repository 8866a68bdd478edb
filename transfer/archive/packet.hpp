// Entries that one thread has formed and that go to the archive by one write, with what may happen only then: an entry
// that another one names must lie before it, and a folder behind all that is in it.
//
// Threads: one, whose packet it is.

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
    /// Where the head of an entry lies in it, and its checksums in that.
    struct HeadPlace {
        std::size_t at = 0, bytes = 0, sums_at = 0;
    };
    /// Room for `count` more bytes, behind those that are there; commit() keeps them, which are one entry.
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
    std::vector<tree::DirNodeRef> holds;  // of which there are entries in it, each once pending
    std::vector<std::pair<sys::EntryStatus, tree::EntryPlace>> stored;  // inodes of several names that are in it

    struct Link {
        tree::EntryPlace own, first;
        sys::EntryKind kind = sys::EntryKind::unknown;
    };
    // What may happen, since what it waited for has its place.
    std::deque<Link> links;
    std::deque<tree::DirNodeRef> written;
};

}  // namespace forebay::archive
