#include "insight/insitu/node_view.hpp"

#include "core/base/limits.hpp"
#include "core/base/try.hpp"

namespace forebay::insitu {

Result<std::span<const std::byte>> NodeView::in_slot(std::size_t block) {
    const auto size = node().head().blocks[block].size_bytes;
    std::span<const std::byte> bytes;
    std::vector<std::byte> unused;
    for (std::uint64_t at = 0; at < size; at += limits::segment_bytes) {
        const auto segment = node().segment(block, at / limits::segment_bytes, unused, scratch_);
        // The lease is checked after reading: a save may have overwritten the bytes meanwhile.
        if (!segment || !has_lease()) return sealed_->with_context_of(segment ? Error() : segment.error());
        bytes = {at == 0 ? segment->data() : bytes.data(), bytes.size() + segment->size()};  // segments are adjacent
    }
    return bytes;
}

Result<std::span<const std::byte>> NodeView::block(std::size_t block) {
    if (const auto match = verified_.find(block); match != verified_.end()) return match->second;
    std::span<const std::byte> bytes;
    if (sealed_) {
        FB_TRY_ASSIGN(own, in_slot(block));
        bytes = own;
    } else {
        std::vector<std::byte> copy(node().head().blocks[block].size_bytes);
        FB_TRY(node().read(block, 0, copy, scratch_));
        bytes = kept_[block] = std::move(copy);
    }
    verified_[block] = bytes;
    return bytes;
}

}  // namespace forebay::insitu
