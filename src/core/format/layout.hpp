// The places of all parts of one node file, computed from a schema and the parts of the node's ranks. Equal inputs give
// the same layout in every process, so ranks need not exchange addresses. Bytes: docs/formats/node-file.md, version 1.
// Pure arithmetic; opens no file.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/describe/schema.hpp"
#include "core/format/hdf5.hpp"

namespace forebay::format {

/// The arrays and table rows of one rank of the node.
struct RankPart {
    std::uint32_t rank = 0;               // in the world
    std::vector<std::vector<Box>> boxes;  // a list for each variable; empty unless it is an array
    std::vector<std::uint64_t> rows;      // one number for each table
};

/// One row of the block table `/_forebay/index`: the piece of one variable from one rank.
struct Block {
    std::uint32_t variable = 0;
    std::uint32_t rank = 0;
    std::uint64_t offset_bytes = 0;  // absolute in the node file
    std::uint64_t size_bytes = 0;
    std::uint64_t first_segment = 0;  // index into `/_forebay/crc32c` of the block's first word
    Box box;  // array: global box; particles: {first row within the node's table, rows}; replicated: the whole shape
    friend bool operator==(const Block&, const Block&) = default;
};

constexpr std::uint64_t segments_of(std::uint64_t size_bytes) { return (size_bytes + (1u << 20) - 1) >> 20; }

/// The extent of one variable's 1-D dataset.
struct Extent {
    std::uint64_t offset_bytes = 0;
    std::uint64_t used_bytes = 0;
    std::uint64_t capacity_bytes = 0;
    std::uint64_t shared_offset_bytes = 0;  // in a shared file: of the dataset; for a column: of this node's rows in it
};

struct LayoutOptions {
    std::uint64_t alignment_bytes = 4096;  // of large variables: the page size of the mount, a power of two
    std::uint64_t headroom_percent = 10;   // spare rows of particle tables
};

/// A column of a table, for change_rows() and patch_rows().
struct ColumnPlace {
    std::uint32_t variable = 0;
    std::uint32_t table = 0;
    std::uint64_t element_bytes = 0;
    hdf5::Fields fields;
};

/// A plain value. A copy for 2,000 variables is about 2 MB.
struct Layout {
    Schema schema;
    std::vector<std::uint32_t> ranks;         // of this node, ascending, as in the parts
    std::vector<std::uint64_t> rows;          // tables x ranks: rows[table * ranks.size() + i]
    std::vector<std::uint64_t> row_capacity;  // one for each table, for the whole node
    std::vector<Extent> extents;              // one for each variable
    std::vector<Block> blocks;             // by variable, then rank, then piece; a rank without rows has an empty block
    std::vector<std::size_t> first_block;  // per variable, with a last entry past the end

    std::uint64_t hdf5_offset_bytes = 0, hdf5_capacity_bytes = 0;  // object headers, groups, heaps
    std::uint64_t schema_offset_bytes = 0, schema_size_bytes = 0;  // `/_forebay/schema`: the schema as JSON
    std::uint64_t ranks_offset_bytes = 0;                          // `/_forebay/ranks`
    std::uint64_t extents_offset_bytes = 0;                        // `/_forebay/extents`
    std::uint64_t index_offset_bytes = 0;                          // `/_forebay/index`
    std::uint64_t crc_offset_bytes = 0;                            // `/_forebay/crc32c`
    std::uint64_t crc_words = 0, crc_capacity_words = 0;
    std::uint64_t data_offset_bytes = 0;  // the first byte after the head
    std::uint64_t file_bytes = 0;         // the superblock's end-of-file: covers every capacity, whole pages

    // Computed with the layout, so encode() only copies and patch_rows() only stores.
    std::string schema_text;  // the schema as JSON
    hdf5::Headers headers;    // fields: one for each variable, then one for each dataset of `/_forebay`
    std::vector<ColumnPlace> columns;
    // of replicated variables and arrays; their words come before the words of columns
    std::uint64_t fixed_segments = 0;
};

/// Computes the layout of a node file. The parts must be in ascending rank order. `refused` if a limit is exceeded.
Result<Layout> plan_layout(const Schema& schema, std::span<const RankPart> parts, const LayoutOptions& options);

/// Moves the blocks of tables to new row counts (`rows` as in Layout::rows). Addresses of variables and all offsets of
/// the head stay. `full` if a table's capacity is too small: the layout is then unchanged, and you must plan a new
/// layout.
Result<> change_rows(Layout& layout, std::span<const std::uint64_t> rows);

}  // namespace forebay::format
