#include "path/catalog/block_reader.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"

namespace forebay::catalog {

BlockReader::Reopen BlockReader::reopening(sys::Store& store, const std::string& directory,
                                           const format::NodeLine& line) {
    return [&store, directory, line](sys::Access access) { return open_line(store, directory, line, access); };
}

Result<BlockReader> BlockReader::open(sys::Store& store, const std::string& directory, const format::NodeLine& line) {
    return read_healing([&](sys::Access access) -> Result<BlockReader> {
        FB_TRY_ASSIGN(node, NodeReader::open(store, directory, line, access));
        FB_TRY_ASSIGN(head, node.head());
        auto name = name_of(directory, line);
        if (head.record_crc32c != line.record_crc32c)
            return Error{
                ErrorKind::corrupt,
                fmt::format("{} is not the committed file: its record has checksum {:08x}, the manifest {:08x}", name,
                            head.record_crc32c, line.record_crc32c)};
        BlockReader reader(std::move(node).take_file(), std::move(head), std::move(name));
        reader.reopen_ = reopening(store, directory, line);
        return reader;
    });
}

Result<BlockReader> BlockReader::open(sys::Store& store, const std::string& directory, const format::NodeLine& line,
                                      format::NodeFile head) {
    FB_TRY_ASSIGN(file, open_line(store, directory, line, sys::Access::read));
    BlockReader reader(std::move(file), std::move(head), name_of(directory, line));
    reader.reopen_ = reopening(store, directory, line);
    return reader;
}

BlockReader BlockReader::over(format::NodeFile head, std::span<const std::byte> image, std::string name) {
    BlockReader reader(nullptr, std::move(head), std::move(name));
    reader.image_ = image;
    return reader;
}

Result<std::span<const std::byte>> BlockReader::in_image(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > image_.size() || image_.size() - offset < bytes)
        return Error{ErrorKind::corrupt,
                     fmt::format("{} is cut short: {} bytes, {} expected", name_, image_.size(), offset + bytes)};
    return image_.subspan(offset, bytes);
}

Result<> BlockReader::fill(sys::File* file, std::uint64_t offset, std::span<std::byte> to, Scratch& scratch) const {
    if (file != nullptr) return PlainBytes(*file, head_, name_).read(offset, to, scratch);
    FB_TRY_ASSIGN(bytes, in_image(offset, to.size()));
    if (!to.empty()) std::memcpy(to.data(), bytes.data(), to.size());
    return {};
}

template <class Once>
Result<> BlockReader::read_once_or_healing(const Once& once) const {
    if (!reopen_) return once(file_.get());
    return read_healing([&](sys::Access access) -> Result<> {
        // The second attempt opens the file again, past the page cache: only the cache may be damaged.
        if (access == sys::Access::read) return once(file_.get());
        FB_TRY_ASSIGN(stored, reopen_(access));
        return once(stored.get());
    });
}

template <class Check>
Result<> BlockReader::fill_checked(std::uint64_t offset, std::span<std::byte> to, Scratch& scratch,
                                   const Check& check) const {
    return read_once_or_healing([&](sys::File* file) -> Result<> {
        FB_TRY(fill(file, offset, to, scratch));
        return check();
    });
}

Result<> BlockReader::read_stored(const format::Chunk& chunk, std::span<std::byte> to) const {
    return read_once_or_healing(
        [&](sys::File* file) { return PlainBytes(*file, head_, name_).read_stored(chunk, to); });
}

Result<> BlockReader::reopen() {
    FB_TRY_ASSIGN(file, reopen_(sys::Access::read));
    file_ = std::move(file);
    return {};
}

Result<> BlockReader::read(std::size_t block, std::uint64_t at, std::span<std::byte> to, Scratch& scratch) const {
    const auto& place = head_.blocks[block];
    const bool ends_whole = at + to.size() == place.size_bytes || to.size() % limits::segment_bytes == 0;
    if (at % limits::segment_bytes != 0 || at > place.size_bytes || to.size() > place.size_bytes - at || !ends_whole)
        return Error{
            ErrorKind::broken,
            fmt::format("a defect of Forebay: bytes {} to {} of a block of {} bytes in {} are not whole segments", at,
                        at + to.size(), place.size_bytes, name_)};
    return fill_checked(place.offset_bytes + at, to, scratch, [&]() -> Result<> {
        for (std::uint64_t begin = 0; begin < to.size(); begin += limits::segment_bytes) {
            const auto segment = format::segment_of(head_, block, (at + begin) / limits::segment_bytes);
            FB_TRY(format::check_segment(head_, segment, to.subspan(begin, segment.bytes), name_));
        }
        return {};
    });
}

Result<std::span<const std::byte>> BlockReader::segment(std::size_t block, std::uint64_t i,
                                                        std::vector<std::byte>& buffer, Scratch& scratch) const {
    const auto place = format::segment_of(head_, block, i);
    // No copy: the image stays mapped while the reader lives.
    if (file_ == nullptr) {
        FB_TRY_ASSIGN(bytes, in_image(place.offset, place.bytes));
        FB_TRY(format::check_segment(head_, place, bytes, name_));
        return bytes;
    }
    buffer.resize(place.bytes);
    FB_TRY(read(block, i * limits::segment_bytes, buffer, scratch));
    return std::span<const std::byte>(buffer);
}

Result<> BlockReader::read(std::span<const format::Segment> segments, std::span<std::byte> to, Scratch& scratch) const {
    const auto first = segments.front().offset;
    return fill_checked(first, to, scratch, [&]() -> Result<> {
        for (const auto& segment : segments)
            FB_TRY(format::check_segment(head_, segment, to.subspan(segment.offset - first, segment.bytes), name_));
        return {};
    });
}

Result<std::vector<std::byte>> BlockReader::value(std::size_t variable) const {
    const auto block = head_.first_block[variable];
    std::vector<std::byte> bytes(head_.blocks[block].size_bytes);
    Scratch scratch;
    const auto done = read(block, 0, bytes, scratch);
    if (!done)
        return with_context(done.error(),
                            fmt::format("variable '{}': {}", head_.schema.variables[variable].name, done.error().what));
    return bytes;
}

}  // namespace forebay::catalog
