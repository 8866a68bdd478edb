#include "insight/views/open_nodes.hpp"

#include <algorithm>
#include <utility>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "insight/views/limits.hpp"

namespace forebay::views {

Result<std::shared_ptr<const catalog::BlockReader>> OpenNodes::take(std::uint32_t snapshot, std::uint32_t node) {
    {
        const std::lock_guard lock(mutex_);
        const auto match = std::ranges::find_if(
            kept_, [&](const Kept& kept) { return kept.node == node && kept.snapshot == snapshot; });
        if (match != kept_.end()) {
            kept_.splice(kept_.begin(), kept_, match);
            return match->open;
        }
    }
    // Read without the lock. Two threads may read the same head; both copies are then kept for a while.
    FB_TRY_ASSIGN(reader, catalog::BlockReader::open(store_, snapshots_[snapshot].directory,
                                                     contents_[snapshot].manifest.nodes[node]));
    const auto opened = std::make_shared<const catalog::BlockReader>(std::move(reader));
    const auto bytes = opened->head().head_bytes;
    const std::lock_guard lock(mutex_);
    kept_.push_front({snapshot, node, bytes, opened});
    kept_bytes_ += bytes;
    // The newest always stays, however large its head.
    while (kept_.size() > 1 && (kept_bytes_ > limits::kept_heads_bytes || kept_.size() > export_files_kept_max)) {
        kept_bytes_ -= kept_.back().bytes;
        kept_.pop_back();
    }
    return opened;
}

}  // namespace forebay::views
