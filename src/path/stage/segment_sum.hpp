// The checksum words of a block while it is filled from front to back: one CRC32C for each segment of 1 MiB. It may be
// a part of a block that begins with a segment.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"

namespace forebay::stage {

class SegmentSum {
public:
    explicit SegmentSum(std::uint32_t* words = nullptr) : words_(words) {}

    /// Adds bytes that are already in the slot.
    void add(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const auto now = std::min<std::size_t>(bytes.size(), limits::segment_bytes - filled_);
            crc_ = crc32c(bytes.first(now), crc_);
            advance(now);
            bytes = bytes.subspan(now);
        }
    }

    /// Stores the word of a shorter last segment.
    void finish() {
        if (filled_ > 0) advance(limits::segment_bytes - filled_);
    }

private:
    void advance(std::uint64_t bytes) {
        filled_ += bytes;
        if (filled_ < limits::segment_bytes) return;
        *words_++ = crc_;
        crc_ = 0;
        filled_ = 0;
    }

    std::uint32_t* words_;
    std::uint32_t crc_ = 0;
    std::uint64_t filled_ = 0;
};

}  // namespace forebay::stage
