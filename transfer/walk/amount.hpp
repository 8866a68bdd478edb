// A number of entries, and the bytes of their files.

#pragma once

#include <atomic>
#include <cstdint>

namespace forebay::tree {

/// Threads: any.
struct Amount {
    std::atomic<std::uint64_t> entries{0}, bytes{0};

    void add(std::uint64_t its_bytes) {
        ++entries;
        bytes += its_bytes;
    }
};

}  // namespace forebay::tree
