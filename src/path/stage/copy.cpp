#include "path/stage/copy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/describe/geometry.hpp"
#include "path/stage/segment_sum.hpp"

namespace forebay::stage {

namespace {

// Runs of this length or more are checksummed during the copy. Shorter runs, such as the rows of a box inside a halo,
// are gathered in a tile in the cache first. From there they are copied as one run, past the cache.
constexpr std::uint64_t fused_run_bytes = 4096;
constexpr std::size_t tile_bytes = 16 << 10;

// Rows of a tile: 2,048 structs of 32 bytes are 64 KiB and stay in L2 while the columns are gathered.
constexpr std::uint64_t tile_rows = 2048;
constexpr std::size_t columns_at_once = 32;

template <std::size_t Size>
void gather(std::byte* to, const std::byte* from, std::int64_t stride, std::uint64_t rows) {
    for (std::uint64_t row = 0; row < rows; ++row) {
        std::memcpy(to, from, Size);
        to += Size;
        from += stride;
    }
}

void gather(std::byte* to, const std::byte* from, std::int64_t stride, std::uint64_t rows,
            std::uint32_t element_bytes) {
    switch (element_bytes) {
        case 1: return gather<1>(to, from, stride, rows);
        case 2: return gather<2>(to, from, stride, rows);
        case 4: return gather<4>(to, from, stride, rows);
        case 8: return gather<8>(to, from, stride, rows);
        case 16: return gather<16>(to, from, stride, rows);
        default:
            for (std::uint64_t row = 0; row < rows; ++row, to += element_bytes, from += stride)
                std::memcpy(to, from, element_bytes);
    }
}

bool contiguous(const ColumnCopy& column) {
    return column.from.stride_bytes == 0 || column.from.stride_bytes == column.element_bytes;
}

// The fewest rows at which every column ends with a whole segment: 262,144 for a column of 4 bytes, 1,048,576 for 17
// bytes.
std::uint64_t rows_of_whole_segments(std::span<const ColumnCopy> columns) {
    std::uint32_t all_bits = 0;
    for (const auto& column : columns) all_bits |= column.element_bytes;
    return limits::segment_bytes >> std::min(std::countr_zero(all_bits), std::countr_zero(limits::segment_bytes));
}

// Copies a part of a packed box, from byte `first` on.
std::uint32_t put_piece_part(std::byte* to, const Piece& piece, std::uint32_t element_bytes, std::uint64_t first,
                             std::uint64_t bytes) {
    std::uint32_t crc = 0;
    std::array<std::byte, tile_bytes> tile;
    std::size_t filled = 0;  // bytes in the tile
    const auto empty_tile = [&] {
        crc = crc32c_copy(to, tile.data(), filled, crc);
        to += filled;
        filled = 0;
    };
    RunWalk walk(piece.box.size, element_bytes, packed_strides(piece.box.size, element_bytes), piece.stride_bytes);
    for (auto done = walk.seek(first); bytes > 0; walk.next(), done = 0) {
        const auto* from = static_cast<const std::byte*>(piece.data) + walk.b() + done;
        const auto now = std::min(walk.run_bytes() - done, bytes);
        bytes -= now;
        // The tile goes out before a long run: the checksum needs the bytes in order.
        if (filled + now > tile_bytes || now >= fused_run_bytes) empty_tile();
        if (now >= fused_run_bytes) {
            crc = crc32c_copy(to, from, now, crc);
            to += now;
            continue;
        }
        std::memcpy(tile.data() + filled, from, now);
        filled += now;
    }
    empty_tile();
    return crc;
}

}  // namespace

void CopyList::reserve(std::size_t blocks) {
    copies_.reserve(blocks);
    columns_.reserve(blocks);
}

void CopyList::clear() {
    copies_.clear();
    columns_.clear();
    parts_ = bytes_ = 0;
}

void CopyList::add(Copy copy, std::uint64_t bytes) {
    if (bytes == 0) return;
    copy.first_part = parts_;
    copy.parts = (copy.size + copy.part_size - 1) / copy.part_size;
    parts_ += copy.parts;
    bytes_ += bytes;
    copies_.push_back(copy);
}

void CopyList::add_bytes(std::byte* to, const void* from, std::uint64_t size_bytes, std::uint32_t* words) {
    add({.how = Copy::How::bytes,
         .to = to,
         .from = from,
         .words = words,
         .size = size_bytes,
         .part_size = limits::segment_bytes},
        size_bytes);
}

void CopyList::add_piece(std::byte* to, const Piece& piece, std::uint32_t element_bytes, std::uint32_t* words) {
    const auto size_bytes = volume(piece.box.size) * element_bytes;
    add({.how = Copy::How::piece,
         .to = to,
         .from = &piece,
         .element_bytes = element_bytes,
         .words = words,
         .size = size_bytes,
         .part_size = limits::segment_bytes},
        size_bytes);
}

void CopyList::add_sum(std::span<const std::byte> block, std::uint32_t* words) {
    add({.how = Copy::How::sum,
         .from = block.data(),
         .words = words,
         .size = block.size(),
         .part_size = limits::segment_bytes},
        block.size());
}

void CopyList::add_columns(std::span<const ColumnCopy> columns, std::uint64_t rows) {
    auto first = columns_.size();
    const auto gather_together = [&] {
        const auto strided = std::span(columns_).subspan(first);
        std::uint64_t row_bytes = 0;
        for (const auto& column : strided) row_bytes += column.element_bytes;
        add({.how = Copy::How::columns,
             .first_column = first,
             .columns = strided.size(),
             .size = rows,
             .part_size = strided.empty() ? 1 : rows_of_whole_segments(strided)},
            rows * row_bytes);
        first = columns_.size();
    };
    for (const auto& column : columns) {
        if (contiguous(column)) {
            add_bytes(column.to, column.from.data, rows * column.element_bytes, column.words);
            continue;
        }
        // Contiguous columns need no gathering; only strided columns share a pass.
        columns_.push_back(column);
        if (columns_.size() - first == columns_at_once) gather_together();
    }
    gather_together();
}

void CopyList::do_columns(const Copy& copy, std::uint64_t first_row, std::uint64_t rows) const {
    const auto columns = std::span(columns_).subspan(copy.first_column, copy.columns);
    SegmentSum sums[columns_at_once];
    for (std::size_t c = 0; c < columns.size(); ++c)
        sums[c] = SegmentSum(columns[c].words + first_row * columns[c].element_bytes / limits::segment_bytes);
    for (const auto end = first_row + rows; first_row < end; first_row += tile_rows) {
        const auto now = std::min(tile_rows, end - first_row);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const auto& column = columns[c];
            std::byte* to = column.to + first_row * column.element_bytes;
            const auto* from = static_cast<const std::byte*>(column.from.data) +
                               static_cast<std::int64_t>(first_row) * column.from.stride_bytes;
            gather(to, from, column.from.stride_bytes, now, column.element_bytes);
            sums[c].add({to, now * column.element_bytes});
        }
    }
    for (std::size_t c = 0; c < columns.size(); ++c) sums[c].finish();
}

void CopyList::do_part(const Copy& copy, std::uint64_t part) const {
    const auto first = part * copy.part_size;
    const auto size = std::min(copy.part_size, copy.size - first);
    const auto* from = static_cast<const std::byte*>(copy.from);
    switch (copy.how) {
        case Copy::How::bytes: copy.words[part] = crc32c_copy(copy.to + first, from + first, size); return;
        case Copy::How::sum: copy.words[part] = crc32c({from + first, size}); return;
        case Copy::How::columns: return do_columns(copy, first, size);
        case Copy::How::piece:
            copy.words[part] =
                put_piece_part(copy.to + first, *static_cast<const Piece*>(copy.from), copy.element_bytes, first, size);
    }
}

std::uint32_t CopyList::run(sys::Crew& crew) const {
    const auto threads = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(std::min(bytes_ / limits::bytes_a_thread_min, parts_), 1, crew.threads()));
    if (threads == 1) {
        for (const auto& copy : copies_)
            for (std::uint64_t part = 0; part < copy.parts; ++part) do_part(copy, part);
        return 1;
    }
    crew.each(parts_, threads, [this](std::uint64_t i) {
        const auto& copy = *(std::ranges::upper_bound(copies_, i, {}, &Copy::first_part) - 1);
        do_part(copy, i - copy.first_part);
    });
    return threads;
}

}  // namespace forebay::stage
