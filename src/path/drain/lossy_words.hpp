// The checksums of segments after decoding: for lossy chunks, of the decoded bytes.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/format/segments.hpp"

namespace forebay::drain {

class LossyWords {
public:
    LossyWords(const format::NodeFile& file, const std::vector<format::Segment>& segments)
        : segments_(segments), words_(file.crc32c) {}

    /// Adds decoded bytes of a lossy variable, from `offset` of the plain form on. Pass the whole variable in rising
    /// order.
    void add(std::uint64_t offset, std::span<const std::byte> decoded);

    const std::vector<std::uint32_t>& words() const { return words_; }

private:
    const std::vector<format::Segment>& segments_;
    std::vector<std::uint32_t> words_;
    std::uint32_t so_far_ = 0;  // of the last, unfinished segment
};

}  // namespace forebay::drain
