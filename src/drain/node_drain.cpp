#include "drain/node_drain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/bytes.hpp"
#include "base/limits.hpp"
#include "base/page_buffer.hpp"
#include "base/units.hpp"
#include "catalog/catalog.hpp"
#include "catalog/node_reader.hpp"
#include "catalog/region.hpp"
#include "drain/compress.hpp"
#include "drain/shared.hpp"
#include "format/manifest.hpp"
#include "format/segments.hpp"
#include "format/shared.hpp"

namespace forebay::drain {

namespace {

std::string parent_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

Result<format::NodeFile> open_image(std::span<const std::byte> image, const std::string& name) {
    FB_TRY_ASSIGN(peeked, format::peek(image, name));
    if (peeked.file_bytes > image.size() || peeked.head_bytes > peeked.file_bytes)
        return Error{ErrorKind::corrupt, name + " says it is longer than its mapping."};
    return format::open_head(image.first(peeked.head_bytes), name);
}

Result<bool> is_there(sys::Store& store, const std::string& path, const format::NodeFile& file) {
    FB_TRY_ASSIGN(exists, store.exists(path));
    if (!exists) return false;
    auto reader = catalog::NodeReader::open(store, path);
    if (!reader) return false;
    const auto staged = reader->peek().staged_crc32c;
    return staged == file.record_crc32c && reader->head();  // a damaged one is written anew
}

Result<> write_bytes(const NodeDrain& drain, const format::NodeFile& file, std::span<const std::byte> image,
                     const std::string& name, sys::File& out) {
    const auto ranges = used_ranges(file);
    FB_TRY(move::write_ranges(out, image.first(file.file_bytes), ranges, drain.write, check_of(file, image, name),
                              drain.done_bytes, drain.stop));
    if (drain.stored_bytes != nullptr)
        for (const auto& range : ranges) *drain.stored_bytes += range.bytes;
    return {};
}

Result<> write_file(const NodeDrain& drain, const format::NodeFile& file, std::span<const std::byte> image,
                    const std::string& path, const std::string& name) {
    FB_TRY_ASSIGN(out, drain.store->open(path, drain.direct ? sys::Access::create_direct : sys::Access::create));
    FB_TRY(write_bytes(drain, file, image, name, *out));
    FB_TRY(out->truncate(file.file_bytes));
    FB_TRY(out->sync());
    return out->close();
}

std::string told(const Compressed& compressed, const std::optional<double>& left) {
    std::string efforts;
    for (const auto& [name, bytes] : compressed.efforts)
        efforts += fmt::format("{}{} of {}", efforts.empty() ? "" : ", ", name, show_bytes(bytes));
    const auto stored = static_cast<double>(std::max<std::uint64_t>(compressed.stored_bytes, 1));
    auto text =
        fmt::format("{} stored as {} ({:.2f}x) by {}", show_bytes(compressed.plain_bytes),
                    show_bytes(compressed.stored_bytes), static_cast<double>(compressed.plain_bytes) / stored, efforts);
    if (compressed.encode_seconds > 0)
        text += fmt::format(", {} a second and thread",
                            show_bytes(static_cast<std::uint64_t>(static_cast<double>(compressed.plain_bytes) /
                                                                  compressed.encode_seconds)));
    if (left) text += fmt::format(", with {} to go", show_seconds(std::max(0.0, *left)));
    if (compressed.refused_chunks > 0)
        text += fmt::format("; {} chunks could not be encoded within their bound and are stored as they are",
                            compressed.refused_chunks);
    return text;
}

Result<> write_file_compressed(const NodeDrain& drain, const format::NodeFile& file, std::span<const std::byte> image,
                               const std::string& path, const std::string& name) {
    FB_TRY_ASSIGN(compressed, write_compressed(drain, *drain.compression, file, image, path, name));
    if (drain.stored_bytes != nullptr) *drain.stored_bytes += compressed.stored_bytes;
    if (drain.log) drain.log(told(compressed, drain.seconds_left));
    return {};
}

Result<> bring_file(const NodeDrain& drain, const format::NodeFile& file, std::span<const std::byte> image,
                    const std::string& path, const std::string& name) {
    FB_TRY_ASSIGN(there, is_there(*drain.store, path, file));
    if (there) return {};
    const auto temporary = path + ".tmp";
    // What an earlier try left is not written over: a file whose servers failed under it may take writes, but never
    // a truncate or a sync again (measured: GlusterFS, erasure-coded).
    FB_TRY(drain.store->remove(temporary));
    const auto write =
        drain.compression != nullptr && drain.compression->rules.any() ? write_file_compressed : write_file;
    if (auto written = write(drain, file, image, temporary, name); !written) {
        // The first error is the one to tell; a remainder that cannot be removed either is swept by recover.
        static_cast<void>(drain.store->remove(temporary));
        return written;
    }
    return drain.store->rename(temporary, path);
}

Result<> bring_region(const NodeDrain& drain, const format::NodeFile& file, std::span<const std::byte> image,
                      const std::string& path, const std::string& name) {
    FB_TRY_ASSIGN(there, catalog::is_region_there(*drain.store, path, file));
    if (there) return {};
    return catalog::write_region(*drain.store, path, drain.direct, file, [&](sys::File&, sys::File& out) {
        return write_bytes(drain, file, image, name, out);
    });
}

// The staged head under a record of its own goes into the region, the bytes of the variables into their datasets.
Result<> bring_shared(const NodeDrain& drain, const format::NodeFile& file, std::span<const std::byte> image,
                      const std::string& path, const std::string& name) {
    const auto region = format::encode_region(file, image);
    FB_TRY_ASSIGN(stored, format::open_head(region, name));
    FB_TRY_ASSIGN(there, catalog::is_region_there(*drain.store, path, stored));
    if (there) return {};
    return catalog::write_region(*drain.store, path, drain.direct, stored,
                                 [&](sys::File& all, sys::File& own) -> Result<> {
                                     FB_TRY(write_shared(drain, file, image, path, name, all));
                                     PageBuffer aligned;
                                     const auto bytes = aligned.take(region.size());
                                     std::ranges::copy(region, bytes.begin());
                                     if (drain.stored_bytes != nullptr) *drain.stored_bytes += region.size();
                                     return own.write(0, bytes);
                                 });
}

}  // namespace

// Each segment is checked by the block in which it begins, so that it is checked once, whatever the block size.
move::Check check_of(const format::NodeFile& file, std::span<const std::byte> image, const std::string& name) {
    return [&file, &name, image, segments = format::segments_by_offset(file)](std::uint64_t offset,
                                                                              std::uint64_t bytes) -> Result<> {
        auto at = std::ranges::lower_bound(segments, offset, {}, &format::Segment::offset);
        for (; at != segments.end() && at->offset < offset + bytes; ++at)
            FB_TRY(format::check_segment(file, *at, image.subspan(at->offset, at->bytes), name));
        return {};
    };
}

std::vector<move::Range> used_ranges(const format::NodeFile& file) {
    std::vector<move::Range> ranges{{0, round_up(file.head_bytes, limits::page_bytes)}};
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
    const auto path = part + "/" + format::node_path(record.node, record.nodes, record.group.nodes_per_file);
    // The run's directory is never made here: where it is gone, another one must not take its place.
    FB_TRY(sys::make_directories_below(*drain.store, drain.run, parent_of(path)));
    FB_TRY(record.group.is_shared()     ? bring_shared(drain, file, image, path, name)
           : record.group.is_combined() ? bring_region(drain, file, image, path, name)
                                        : bring_file(drain, file, image, path, name));
    // Also when it was there: whoever renamed it may have lost power, or met an error, before the sync.
    auto synced = drain.store->sync_directory(parent_of(path));
    if (synced && parent_of(path) != part) synced = drain.store->sync_directory(part);
    // The last agent may commit, and so rename the part, as soon as our name is in it; it syncs the names itself.
    if (!synced && synced.error().kind == ErrorKind::missing) return {};
    return synced;
}

}  // namespace forebay::drain
