#include "transfer/copy/file_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

// Bytes of one kernel call, about 5 ms: a stop or a rate limit takes effect soon.
constexpr std::uint64_t kernel_bytes = 8u << 20;

Error stopped() { return {ErrorKind::retry, "stopped early"}; }

Result<> copy_stretch(sys::OpenFile& source, sys::OpenFile& target, sys::ByteStretch bytes, const DataWay& way,
                      std::vector<std::byte>& buffer) {
    while (bytes.begin < bytes.end) {
        // Bytes that an earlier run has written are kept.
        if (const auto held = std::min(target.held_at(bytes.begin), bytes.end - bytes.begin); held > 0) {
            bytes.begin += held;
            if (way.resumed) way.resumed(held);
            continue;
        }
        const bool by_kernel = way.by_kernel->load(std::memory_order_relaxed);
        const auto piece =
            std::min(way.pace->piece_bytes(by_kernel ? kernel_bytes : buffer_bytes), bytes.end - bytes.begin);
        if (!way.pace->wait_turn(piece, way.stop)) return stopped();
        std::uint64_t moved = 0;
        if (by_kernel) {
            const auto copied = target.copy_from(source, bytes.begin, piece);
            if (!copied && copied.error().kind == ErrorKind::unsupported) {
                // For all later files, too: the kernel cannot copy between these file systems.
                way.by_kernel->store(false, std::memory_order_relaxed);
                continue;
            }
            if (!copied) return copied.error();
            moved = *copied;
        }
        if (moved == 0) {  // also after the kernel: some file systems copy 0 bytes without an error
            buffer.resize(std::max<std::size_t>(buffer.size(), buffer_bytes));
            FB_TRY_ASSIGN(got, source.read(bytes.begin, std::span(buffer).first(std::min(piece, buffer_bytes))));
            FB_TRY(target.write(bytes.begin, std::span(buffer).first(got)));
            moved = got;
        }
        if (moved == 0) return check_ended(source, bytes.begin);
        bytes.begin += moved;
        if (way.moved) way.moved(moved);
    }
    return {};
}

Result<std::uint64_t> difference_in(sys::OpenFile& file, sys::OpenFile& other, sys::ByteStretch bytes,
                                    std::vector<std::byte>& buffer) {
    buffer.resize(std::max<std::size_t>(buffer.size(), buffer_bytes));
    const auto half = buffer_bytes / 2;
    const auto first = std::span(buffer).first(half), second = std::span(buffer).subspan(half, half);
    while (bytes.begin < bytes.end) {
        const auto piece = std::min(half, bytes.end - bytes.begin);
        FB_TRY_ASSIGN(got, file.read(bytes.begin, first.first(piece)));
        FB_TRY_ASSIGN(other_got, other.read(bytes.begin, second.first(piece)));
        const auto common = std::min(got, other_got);
        // memcmp is ten times as fast as a loop over bytes. Only the last piece needs the loop.
        if (common == piece && std::memcmp(first.data(), second.data(), piece) == 0) {
            bytes.begin += piece;
            continue;
        }
        const auto [at, unused] = std::ranges::mismatch(first.first(common), second.first(common));
        return bytes.begin + static_cast<std::uint64_t>(at - first.begin());
    }
    return bytes.end;
}

// Reads the file for its checksum.
Result<std::uint32_t> checksum_of(sys::OpenFile& file, sys::ByteStretch bytes, std::vector<std::byte>& buffer) {
    buffer.resize(std::max<std::size_t>(buffer.size(), buffer_bytes));
    std::uint32_t crc = 0;
    while (bytes.begin < bytes.end) {
        const auto part = std::span(buffer).first(std::min(buffer_bytes, bytes.end - bytes.begin));
        FB_TRY_ASSIGN(got, file.read(bytes.begin, part));
        if (got == 0) break;
        crc = crc32c(part.first(got), crc);
        bytes.begin += got;
    }
    return crc;
}

// If the storage of one file knows its checksum, only the other file is read. Returns false if they differ.
Result<std::optional<bool>> has_same_checksum(sys::OpenFile& file, sys::OpenFile& other, sys::ByteStretch bytes,
                                              std::vector<std::byte>& buffer) {
    FB_TRY_ASSIGN(other_known, other.checksum());
    FB_TRY_ASSIGN(known, file.checksum());
    if (!known && !other_known) return std::optional<bool>();
    if (known && other_known) return std::optional(*known == *other_known);
    FB_TRY_ASSIGN(read, checksum_of(known ? other : file, bytes, buffer));
    return std::optional(read == (known ? *known : *other_known));
}

Result<std::uint64_t> first_difference_of_bytes(sys::OpenFile& file, sys::OpenFile& other, sys::ByteStretch bytes,
                                                bool have_holes, std::vector<std::byte>& buffer) {
    if (!have_holes) return difference_in(file, other, bytes, buffer);
    const auto end = bytes.end;
    while (bytes.begin < end) {
        FB_TRY_ASSIGN(data, file.next_data(bytes.begin));
        FB_TRY_ASSIGN(other_data, other.next_data(bytes.begin));
        const auto begin = std::min(data ? data->begin : end, other_data ? other_data->begin : end);
        if (begin >= end) return end;
        // Up to the end of the stretch that begins first. Data in only one file equals the other's hole only if it is
        // all zeros.
        const auto stop = std::min(end, data && data->begin == begin ? data->end : other_data->end);
        FB_TRY_ASSIGN(at, difference_in(file, other, {begin, stop}, buffer));
        if (at < stop) return at;
        bytes.begin = stop;
    }
    return end;
}

}  // namespace

Result<> check_ended(sys::OpenFile& source, std::uint64_t end) {
    FB_TRY_ASSIGN(status, source.status());
    if (status.bytes <= end) return {};
    return Error{ErrorKind::corrupt,
                 fmt::format("it ends at byte {}, but its file system reports {} bytes", end, status.bytes)};
}

Result<> check_empty(sys::OpenFile& file) {
    std::byte first{};
    FB_TRY_ASSIGN(got, file.read(0, {&first, 1}));
    if (got == 0) return {};
    FB_TRY_ASSIGN(status, file.status());
    if (status.bytes > 0) return {};
    return Error{ErrorKind::corrupt, "it has bytes, but its file system reports none"};
}

bool has_holes(const sys::EntryStatus& status) { return status.allocated_bytes < status.bytes; }

Result<> copy_bytes(sys::OpenFile& source, sys::OpenFile& target, sys::ByteStretch bytes, bool source_has_holes,
                    const DataWay& way, std::vector<std::byte>& buffer) {
    if (bytes.end == 0) return check_empty(source);
    if (!source_has_holes) return copy_stretch(source, target, bytes, way, buffer);
    while (bytes.begin < bytes.end) {
        FB_TRY_ASSIGN(data, source.next_data(bytes.begin));
        if (!data || data->begin >= bytes.end) return {};
        const auto end = std::min(data->end, bytes.end);
        FB_TRY(copy_stretch(source, target, {data->begin, end}, way, buffer));
        bytes.begin = end;
    }
    return {};
}

Result<std::uint64_t> first_difference(sys::OpenFile& file, sys::OpenFile& other, sys::ByteStretch bytes,
                                       bool have_holes, std::vector<std::byte>& buffer) {
    const auto end = bytes.end;
    if (end == 0) {
        FB_TRY(check_empty(file));
        FB_TRY(check_empty(other));
        return end;
    }
    FB_TRY_ASSIGN(is_same, has_same_checksum(file, other, bytes, buffer));
    if (is_same && *is_same) return end;
    FB_TRY_ASSIGN(at, first_difference_of_bytes(file, other, bytes, have_holes, buffer));
    // The checksums differ but the bytes are equal: the stored checksum is wrong.
    if (at < end || !is_same) return at;
    return Error{ErrorKind::corrupt, "its bytes do not match the checksum of its storage"};
}

}  // namespace forebay::tree
