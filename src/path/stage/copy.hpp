// Copies blocks from the application's memory into the slot, checksummed on the way. The hot path.
//
// A save is a list of copies, each cut into parts that begin and end where segments do, and end with its block. So
// bytes and checksum words are the same whichever thread copies a part, and in whatever order. Nothing here allocates,
// locks or fails; the caller waits for nobody but the helpers of its crew, for the part that each of them is at when no
// other is left.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sys/crew.hpp"
#include "forebay/describe.hpp"

namespace forebay::stage {

/// One column of a table on its way into its block.
struct ColumnCopy {
    std::byte* to = nullptr;
    ColumnData from;
    std::uint32_t element_bytes = 0;
    std::uint32_t* words = nullptr;
};

/// Life: reserve(), once a layout -> { clear -> add_... -> run }, in each save. What was added is referred to until the
/// end of run(). `to` is where a block lies, `words` where the first of its checksum words does.
class CopyList {
public:
    /// Room for so many blocks: until then nothing allocates.
    void reserve(std::size_t blocks);
    void clear();

    /// `size_bytes` contiguous bytes.
    void add_bytes(std::byte* to, const void* from, std::uint64_t size_bytes, std::uint32_t* words);
    /// The box of a piece, packed row-major.
    void add_piece(std::byte* to, const Piece& piece, std::uint32_t element_bytes, std::uint32_t* words);
    /// Columns of one table. Strided ones (array of structs) are gathered tile by tile, all columns of a tile while its
    /// rows are in cache, so that the structs cross the memory bus once.
    void add_columns(std::span<const ColumnCopy> columns, std::uint64_t rows);
    /// A block that the application has written itself: its checksum words.
    void add_sum(std::span<const std::byte> block, std::uint32_t* words);

    /// Does all of it, and gives the number of threads that took part at most. Little is done by the caller alone.
    std::uint32_t run(sys::Crew& crew) const;

private:
    struct Copy {
        enum class How { bytes, piece, columns, sum };
        How how = How::bytes;
        std::byte* to = nullptr;
        const void* from = nullptr;  // of pieces the Piece
        std::uint32_t element_bytes = 0;
        std::uint32_t* words = nullptr;
        std::uint64_t first_column = 0, columns = 0;  // in columns_
        std::uint64_t size = 0;                       // bytes; of columns rows
        std::uint64_t part_size = 0;                  // the same of a part; the last one may be shorter
        std::uint64_t first_part = 0, parts = 0;      // of all
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
