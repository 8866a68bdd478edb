// Copies blocks from the application's memory into the slot, checksummed on the way. The hot path: nothing here
// allocates, locks, waits or fails.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "forebay/describe.hpp"

namespace forebay::stage {

/// `size_bytes` contiguous bytes.
void put_bytes(std::byte* to, const void* from, std::uint64_t size_bytes, std::uint32_t* words);

/// The box of a piece, packed row-major.
void put_piece(std::byte* to, const Piece& piece, std::uint32_t element_bytes, std::uint32_t* words);

/// One column of a table on its way into its block.
struct ColumnCopy {
    std::byte* to = nullptr;
    ColumnData from;
    std::uint32_t element_bytes = 0;
    std::uint32_t* words = nullptr;
};

/// `rows` rows of the columns of one table. Strided columns (array of structs) are gathered tile by tile, all columns
/// of a tile while its rows are in cache, so that the structs cross the memory bus once.
void put_columns(std::span<const ColumnCopy> columns, std::uint64_t rows);

/// The checksum words of a block that the application has written itself.
void sum_block(std::span<const std::byte> block, std::uint32_t* words);

}  // namespace forebay::stage
