#include "path/drain/node_drain.hpp"

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/manifest.hpp"
#include "core/format/segments.hpp"
#include "path/catalog/catalog.hpp"
#include "path/drain/forms/bring.hpp"

namespace forebay::drain {

namespace {

std::string parent_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

Result<format::NodeFile> open_image(std::span<const std::byte> image, const std::string& name) {
    FB_TRY_ASSIGN(peeked, format::peek(image, name));
    if (peeked.file_bytes > image.size() || peeked.head_bytes > peeked.file_bytes)
        return Error{ErrorKind::corrupt, name + " claims to be longer than its mapping."};
    return format::open_head(image.first(peeked.head_bytes), name);
}

}  // namespace

Result<> write_plain(const Bringing& what, sys::File& out) {
    const auto& drain = what.drain;
    const auto ranges = used_ranges(what.file);
    reserve_room(out, ranges, drain.write);
    std::uint64_t end = 0;
    for (const auto& range : ranges) {
        if (range.offset > end) out.leave_zeros(end, range.offset - end);
        end = range.offset + range.bytes;
    }
    if (what.file.file_bytes > end) out.leave_zeros(end, what.file.file_bytes - end);
    FB_TRY(move::write_ranges(out, what.image.first(what.file.file_bytes), ranges, drain.write,
                              check_of(what.file, what.image, what.name), drain.done_bytes, drain.stop));
    if (drain.stored_bytes != nullptr)
        for (const auto& range : ranges) *drain.stored_bytes += range.bytes;
    return {};
}

void reserve_room(sys::File& out, std::span<const move::ByteRange> ranges, const move::WriteOptions& options) {
    for (const auto& range : ranges)
        // A range of one write needs no reservation.
        if (range.bytes > options.block_bytes) out.reserve(range.offset, range.bytes);
}

// A segment is checked by the block that contains its first byte: once, with any block size.
move::Check check_of(const format::NodeFile& file, std::span<const std::byte> image, const std::string& name) {
    return [&file, &name, image, segments = format::segments_by_offset(file)](std::uint64_t offset,
                                                                              std::uint64_t bytes) -> Result<> {
        auto at = std::ranges::lower_bound(segments, offset, {}, &format::Segment::offset);
        for (; at != segments.end() && at->offset < offset + bytes; ++at)
            FB_TRY(format::check_segment(file, *at, image.subspan(at->offset, at->bytes), name));
        return {};
    };
}

std::vector<move::ByteRange> used_ranges(const format::NodeFile& file) {
    std::vector<move::ByteRange> ranges{{0, round_up(file.head_bytes, limits::page_bytes)}};
    std::vector<format::Extent> extents;
    for (const auto& extent : file.extents)
        if (extent.used_bytes > 0) extents.push_back(extent);
    std::ranges::sort(extents, {}, &format::Extent::offset_bytes);
    for (const auto& extent : extents) {
        auto& last = ranges.back();
        const auto begin = round_down(extent.offset_bytes, limits::page_bytes);
        const auto end = round_up(extent.offset_bytes + extent.used_bytes, limits::page_bytes);
        if (begin < last.offset + last.bytes + limits::segment_bytes)
            last.bytes = std::max(last.bytes, end - last.offset);
        else ranges.push_back({begin, end - begin});
    }
    return ranges;
}

Result<> check_image(std::span<const std::byte> image, const std::string& name) {
    FB_TRY_ASSIGN(file, open_image(image, name));
    for (const auto& segment : format::segments_by_offset(file))
        FB_TRY(format::check_segment(file, segment, image.subspan(segment.offset, segment.bytes), name));
    return {};
}

Result<> drain_node_file(const NodeDrain& drain, std::span<const std::byte> image, const std::string& name) {
    FB_TRY_ASSIGN(file, open_image(image, name));
    const auto& record = file.record;
    const auto part = drain.run + "/" + file.schema.stream + "/" + catalog::part_name(record.step, record.snapshot_id);
    const auto path = part + "/" + format::node_path(record.node, record.nodes, record.form);
    // Never make the run's directory here: if it is gone, another directory must not take its place.
    FB_TRY(sys::make_directories_below(*drain.store, drain.run, parent_of(path)));
    const Bringing bringing{drain, file, image, path, name};
    FB_TRY(std::visit([&](const auto& form) { return bring(form, bringing); }, record.form));
    // Also for a file that was there: its writer may have lost power, or failed, before the sync.
    auto synced = drain.store->sync_directory(parent_of(path));
    if (synced && parent_of(path) != part) synced = drain.store->sync_directory(part);
    // The last agent may commit, and rename the part, as soon as our name is in it. It syncs the names itself.
    if (!synced && synced.error().kind == ErrorKind::missing) return {};
    return synced;
}

}  // namespace forebay::drain
