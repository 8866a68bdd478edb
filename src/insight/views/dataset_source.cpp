#include "insight/views/dataset_source.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/convert.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/segments.hpp"

namespace forebay::views {

namespace {

/// The segments of one variable with bytes [begin, end) of the plain file, in groups to read at once.
class Segments {
public:
    Segments(const format::NodeFile& head, std::uint32_t variable, std::uint64_t begin, std::uint64_t end)
        : head_(head), end_(end) {
        const auto first = head.blocks.begin() + static_cast<std::ptrdiff_t>(head.first_block[variable]);
        const auto last = head.blocks.begin() + static_cast<std::ptrdiff_t>(head.first_block[variable + 1]);
        const auto match = std::partition_point(
            first, last, [&](const auto& block) { return block.offset_bytes + block.size_bytes <= begin; });
        block_ = static_cast<std::size_t>(match - head.blocks.begin());
        block_end_ = static_cast<std::size_t>(last - head.blocks.begin());
        if (block_ < block_end_ && head.blocks[block_].offset_bytes < begin)
            segment_ = (begin - head.blocks[block_].offset_bytes) / limits::segment_bytes;
    }

    /// The next segments, at least one, in a span of up to `bytes_max`, without a gap worth skipping.
    const std::vector<format::Segment>& next(std::uint64_t bytes_max) {
        group_.clear();
        for (; block_ < block_end_; ++block_, segment_ = 0) {
            for (; segment_ < format::segments_of(head_.blocks[block_].size_bytes); ++segment_) {
                const auto segment = format::segment_of(head_, block_, segment_);
                if (segment.offset >= end_) return group_;
                if (!group_.empty() && segment.offset + segment.bytes - group_.front().offset > bytes_max)
                    return group_;
                group_.push_back(segment);
            }
        }
        return group_;
    }

private:
    const format::NodeFile& head_;
    const std::uint64_t end_;
    std::size_t block_ = 0, block_end_ = 0;
    std::uint64_t segment_ = 0;  // in the block
    std::vector<format::Segment> group_;
};

}  // namespace

/// The destination of loaded elements: bytes [first, first + to.size()) of the target.
struct DatasetSource::Into {
    std::uint64_t first = 0;
    std::span<std::byte> to;

    /// Copies bytes that lie at byte `at` of the target, as far as they are requested.
    void put(std::uint64_t at, std::span<const std::byte> bytes) const {
        const auto begin = std::max(at, first);
        const auto end = std::min(at + bytes.size(), first + to.size());
        if (begin < end) std::memcpy(to.data() + (begin - first), bytes.data() + (begin - at), end - begin);
    }
};

Result<> DatasetSource::load(const DatasetTarget& target, std::uint64_t first, std::span<std::byte> to) {
    const std::uint64_t element = target.type.size_bytes;
    const Into into{first, to};
    const auto begin = first / element, end = (first + to.size() + element - 1) / element;
    const auto tiles = target.tiling.tiles(begin, end);
    std::uint64_t covered = 0;
    for (const auto& tile : tiles) covered += volume(tile.box.size);
    if (covered < end - begin)  // some of these elements were never written
        for (auto at = begin; at < end; ++at) into.put(at * element, target.fill);
    for (const auto& tile : tiles) FB_TRY(load_tile(target, tile, into));
    return {};
}

Result<> DatasetSource::load_tile(const DatasetTarget& target, const Stored& tile, const Into& into) {
    FB_TRY_ASSIGN(node, nodes_.take(tile.snapshot, tile.node));
    const auto& head = node->head();
    const auto type = head.schema.variables[tile.variable].type;
    FB_TRY_ASSIGN(convert, describe::conversion(type, target.type));
    const auto begin = head.extents[tile.variable].offset_bytes + tile.first_element * type.size_bytes;
    const auto end = begin + volume(tile.box.size) * type.size_bytes;

    // Walks over the stored elements of the box and their places in the target, both counted in elements.
    Extents origin;
    for (int dim = 0; dim < tile.box.lo.dims(); ++dim) origin.push_back(0);
    const auto strides = packed_strides(target.tiling.shape(), 1);
    const auto place = static_cast<std::uint64_t>(offset_bytes(tile.box.lo, origin, strides));
    RunWalk walk(tile.box.size, 1, packed_strides(tile.box.size, 1), strides);
    Segments segments(head, tile.variable, begin, end);
    for (;;) {
        const auto& group = segments.next(read_bytes_);
        if (group.empty()) return {};
        const auto group_begin = group.front().offset, group_end = group.back().offset + group.back().bytes;
        const auto bytes = buffer_.take(group_end - group_begin);
        FB_TRY(node->read(group, bytes, scratch_));
        bytes_read_ += bytes.size();
        for (; !walk.done(); walk.next()) {
            const auto run_begin = begin + static_cast<std::uint64_t>(walk.a()) * type.size_bytes;
            const auto run_end = run_begin + walk.run_bytes() * type.size_bytes;
            const auto from = std::max(run_begin, group_begin), to = std::min(run_end, group_end);
            if (from < to) {
                // A string may span two segments; converted types divide a segment.
                const auto run = bytes.subspan(from - group_begin, to - from);
                const auto at = (place + static_cast<std::uint64_t>(walk.b())) * target.type.size_bytes +
                                (from - run_begin) / type.size_bytes * target.type.size_bytes +
                                (from - run_begin) % type.size_bytes;
                if (convert.run != nullptr) {
                    converted_.resize(run.size() / type.size_bytes * target.type.size_bytes);
                    convert.run(converted_.data(), run.data(), run.size() / type.size_bytes);
                }
                into.put(at, convert.run != nullptr ? std::span<const std::byte>(converted_) : run);
            }
            if (run_end > group_end) break;  // the next segments have the rest of this run
        }
    }
}

}  // namespace forebay::views
