#include "path/drain/lossy_words.hpp"

#include <algorithm>

#include "core/base/crc32c.hpp"

namespace forebay::drain {

void LossyWords::add(std::uint64_t offset, std::span<const std::byte> decoded) {
    auto segment = std::ranges::upper_bound(segments_, offset, {}, &format::Segment::offset) - 1;
    while (!decoded.empty()) {
        const auto end = segment->offset + segment->bytes;
        const auto now = std::min<std::uint64_t>(end - offset, decoded.size());
        so_far_ = crc32c(decoded.first(now), so_far_);
        offset += now;
        decoded = decoded.subspan(now);
        if (offset < end) return;
        words_[segment->word] = so_far_;
        so_far_ = 0;
        ++segment;
    }
}

}  // namespace forebay::drain
