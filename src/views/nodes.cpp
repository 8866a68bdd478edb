#include "views/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "views/limits.hpp"

namespace forebay::views {

Result<std::shared_ptr<OpenNode>> Nodes::take(std::uint32_t snapshot, std::uint32_t node) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find_if(
            kept_, [&](const Kept& kept) { return kept.node == node && kept.snapshot == snapshot; });
        if (found != kept_.end()) {
            kept_.splice(kept_.begin(), kept_, found);
            return found->open;
        }
    }
    // Read without the lock. Two threads may read one head at once, and then both keep theirs for a while.
    FB_TRY_ASSIGN(opened, open(snapshot, node));
    const auto bytes = opened->head.head_bytes;
    const std::lock_guard lock(mutex_);
    kept_.push_front({snapshot, node, bytes, opened});
    kept_bytes_ += bytes;
    while (kept_.size() > 1 && (kept_bytes_ > limits::kept_heads_bytes || kept_.size() > export_files_kept_max)) {
        kept_bytes_ -= kept_.back().bytes;
        kept_.pop_back();
    }
    return opened;
}

Result<std::shared_ptr<OpenNode>> Nodes::open(std::uint32_t snapshot, std::uint32_t node) const {
    const auto& directory = snapshots_[snapshot].directory;
    const auto& line = contents_[snapshot].manifest.nodes[node];
    auto name = catalog::name_of(directory, line);
    FB_TRY_ASSIGN(reader, catalog::NodeReader::open(store_, directory, line));
    FB_TRY_ASSIGN(head, reader.head());
    if (head.record_crc32c != line.record_crc32c)
        return Error{ErrorKind::corrupt, fmt::format("{} is not the file that was committed: its record has checksum "
                                                     "{:08x}, the manifest says {:08x}.",
                                                     name, head.record_crc32c, line.record_crc32c)};
    return std::make_shared<OpenNode>(OpenNode{std::move(name), std::move(reader), std::move(head)});
}

}  // namespace forebay::views
