// The checksums of segments as a reader decodes them: where chunks lose something, of what they decode to.

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

    /// The bytes of a variable that loses something, as they decode, from `offset` of the plain form on. All of the
    /// variable comes, in rising order.
    void add(std::uint64_t offset, std::span<const std::byte> decoded);

    const std::vector<std::uint32_t>& words() const { return words_; }

private:
    const std::vector<format::Segment>& segments_;
    std::vector<std::uint32_t> words_;
    std::uint32_t so_far_ = 0;  // of the segment that what was added ends in
};

}  // namespace forebay::drain
