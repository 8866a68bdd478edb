// Copies blocks from the application's memory into the slot and computes their checksums. The hot path.
//
// A save is a list of copies. Each copy is cut into parts at the borders of segments, so the bytes and checksum words
// do not depend on the order of parts or on their threads. Nothing here allocates, locks or fails. The caller waits
// only for the helpers of its crew, and only for their last parts.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sys/crew.hpp"
#include "forebay/describe.hpp"

namespace forebay::stage {

/// One column of a table and its block.
struct ColumnCopy {
    std::byte* to = nullptr;
    ColumnData from;
    std::uint32_t element_bytes = 0;
    std::uint32_t* words = nullptr;
};

/// Life: reserve(), once for each layout -> { clear -> add_... -> run }, in each save. Added memory must stay valid
/// until run() ends. `to` is the address of a block, `words` the address of its first checksum word.
class CopyList {
public:
    /// Reserves room for this number of blocks. Up to this number nothing allocates.
    void reserve(std::size_t blocks);
    void clear();

    /// Adds `size_bytes` contiguous bytes.
    void add_bytes(std::byte* to, const void* from, std::uint64_t size_bytes, std::uint32_t* words);
    /// Adds the box of a piece, packed row-major.
    void add_piece(std::byte* to, const Piece& piece, std::uint32_t element_bytes, std::uint32_t* words);
    /// Adds the columns of one table. Strided columns (array of structs) are gathered tile by tile: all columns of a
    /// tile while its rows are in cache, so the structs cross the memory bus once.
    void add_columns(std::span<const ColumnCopy> columns, std::uint64_t rows);
    /// Adds only the checksum words of a block that the application wrote itself.
    void add_sum(std::span<const std::byte> block, std::uint32_t* words);

    /// Runs all copies. Returns the largest number of threads that took part. The caller alone does small lists.
    std::uint32_t run(sys::Crew& crew) const;

private:
    struct Copy {
        enum class How { bytes, piece, columns, sum };
        How how = How::bytes;
        std::byte* to = nullptr;
        const void* from = nullptr;  // for pieces the Piece
        std::uint32_t element_bytes = 0;
        std::uint32_t* words = nullptr;
        std::uint64_t first_column = 0, columns = 0;  // in columns_
        std::uint64_t size = 0;                       // bytes; for columns rows
        std::uint64_t part_size = 0;                  // the same for a part; the last part may be shorter
        std::uint64_t first_part = 0, parts = 0;      // counted over all copies
    };
    void add(Copy copy, std::uint64_t bytes);
    void add_strided(std::span<const ColumnCopy> columns, std::uint64_t rows);
    void do_part(const Copy& copy, std::uint64_t part) const;
    void do_columns(const Copy& copy, std::uint64_t first_row, std::uint64_t rows) const;

    std::vector<Copy> copies_;
    std::vector<ColumnCopy> columns_;
    std::uint64_t parts_ = 0, bytes_ = 0;
};

}  // namespace forebay::stage
