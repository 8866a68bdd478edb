#include "stage/copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "describe/geometry.hpp"
#include "stage/segment_sum.hpp"

namespace forebay::stage {

namespace {

// Runs from this length on are checksummed while they are copied. Shorter ones, as the rows of a box inside a halo, are
// gathered in a tile that stays in the cache: copied from there as one run they pass the cache of the slot's pages too.
constexpr std::uint64_t fused_run_bytes = 4096;
constexpr std::size_t tile_bytes = 16 << 10;

// Rows of a tile: 2,048 structs of 32 bytes are 64 KiB and stay in L2 while the columns are picked from them.
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

void put_strided(std::span<const ColumnCopy* const> columns, std::uint64_t rows) {
    SegmentSum sums[columns_at_once];
    for (std::size_t c = 0; c < columns.size(); ++c) sums[c] = SegmentSum(columns[c]->words);
    for (std::uint64_t row = 0; row < rows; row += tile_rows) {
        const auto now = std::min(tile_rows, rows - row);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const auto& column = *columns[c];
            std::byte* to = column.to + row * column.element_bytes;
            const auto* from = static_cast<const std::byte*>(column.from.data) +
                               static_cast<std::int64_t>(row) * column.from.stride_bytes;
            gather(to, from, column.from.stride_bytes, now, column.element_bytes);
            sums[c].add({to, now * column.element_bytes});
        }
    }
    for (std::size_t c = 0; c < columns.size(); ++c) sums[c].finish();
}

}  // namespace

void put_bytes(std::byte* to, const void* from, std::uint64_t size_bytes, std::uint32_t* words) {
    SegmentSum sum(words);
    sum.copy(to, static_cast<const std::byte*>(from), size_bytes);
    sum.finish();
}

void put_piece(std::byte* to, const Piece& piece, std::uint32_t element_bytes, std::uint32_t* words) {
    SegmentSum sum(words);
    std::array<std::byte, tile_bytes> tile;
    std::size_t filled = 0;  // of the tile
    const auto empty_tile = [&] {
        sum.copy(to, tile.data(), filled);
        to += filled;
        filled = 0;
    };
    const auto* data = static_cast<const std::byte*>(piece.data);
    for_each_run(piece.box.size, element_bytes, piece.stride_bytes, packed_strides(piece.box.size, element_bytes),
                 [&](std::int64_t from, std::int64_t, std::uint64_t bytes) {
                     if (filled + bytes > tile_bytes || bytes >= fused_run_bytes) empty_tile();
                     if (bytes >= fused_run_bytes) {
                         sum.copy(to, data + from, bytes);
                         to += bytes;
                         return;
                     }
                     std::memcpy(tile.data() + filled, data + from, bytes);
                     filled += bytes;
                 });
    empty_tile();
    sum.finish();
}

void put_columns(std::span<const ColumnCopy> columns, std::uint64_t rows) {
    const ColumnCopy* strided[columns_at_once];
    std::size_t count = 0;
    for (const auto& column : columns) {
        if (contiguous(column)) {
            put_bytes(column.to, column.from.data, rows * column.element_bytes, column.words);
            continue;
        }
        strided[count++] = &column;
        if (count < columns_at_once) continue;
        put_strided({strided, count}, rows);
        count = 0;
    }
    if (count > 0) put_strided({strided, count}, rows);
}

void sum_block(std::span<const std::byte> block, std::uint32_t* words) {
    SegmentSum sum(words);
    sum.add(block);
    sum.finish();
}

}  // namespace forebay::stage
