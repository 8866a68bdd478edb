// The fixed structures of a node file's head, as they lie in the file. Bytes: docs/formats/node-file.md.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/limits.hpp"
#include "core/format/layout.hpp"
#include "core/format/node_file.hpp"

namespace forebay::format {

/// "FBNODE", then two bytes that a text-mode transfer would change.
inline constexpr std::uint64_t record_magic = 0x0A0D45444F4E4246;
inline constexpr auto plain_version = static_cast<std::uint32_t>(Storage::plain);
inline constexpr auto compressed_version = static_cast<std::uint32_t>(Storage::compressed);
inline constexpr auto shared_version = static_cast<std::uint32_t>(Storage::spread);
inline constexpr std::uint32_t record_header_bytes = 184;

/// The record page, `/_forebay/record`. `magic` is stored last. Zero means "not sealed".
struct RecordPage {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_bytes;  // bytes of this struct up to the end of the fields of version 1
    std::uint64_t snapshot_id;
    std::int64_t step;
    double time;
    std::int64_t sealed_unix_ns;
    std::uint32_t node;
    std::uint32_t nodes;
    std::uint32_t world_ranks;
    std::uint32_t head_crc32c;  // of bytes [0, 4096) and [8192, head_bytes)
    std::uint64_t file_bytes;
    std::uint64_t head_bytes;  // end of the last checksum word
    std::uint64_t data_offset_bytes;
    std::uint64_t hdf5_offset_bytes;
    std::uint64_t hdf5_capacity_bytes;
    std::uint64_t schema_offset_bytes;
    std::uint64_t schema_size_bytes;
    std::uint64_t ranks_offset_bytes;
    std::uint64_t ranks;
    std::uint64_t extents_offset_bytes;
    std::uint64_t variables;
    std::uint64_t index_offset_bytes;
    std::uint64_t blocks;
    std::uint64_t crc_offset_bytes;
    std::uint64_t crc_words;
    // Only for combined files, else zero. Readers of a region do not need these fields.
    std::uint32_t nodes_per_file;
    std::uint32_t group_nodes;
    std::uint32_t group_first_node;
    std::uint32_t group_reserved;
    std::array<std::uint64_t, limits::nodes_per_file_max + 1> group_offsets;
    // Only in versions 2 and 3; zero in version 1.
    std::uint64_t plain_bytes;  // length of the plain form
    std::uint64_t filters_offset_bytes;
    std::uint64_t chunks_offset_bytes;
    std::uint64_t chunks;
    std::uint64_t staged_crc32c;  // record_crc32c of the staged file
    // Only for shared files, staged or stored; else zero.
    std::uint64_t shared_heads_offset;
    std::uint64_t shared_region_bytes;
    std::uint64_t shared_alignment_bytes;
    std::uint64_t shared_file_bytes;
    std::uint32_t shared_naming;
    std::uint32_t shared_reserved;
    // The run and its lines. Zero in older files. Readers of a node file do not need these fields.
    std::uint64_t run_id;
    std::uint64_t save;
    std::uint32_t lines;
    std::uint32_t lines_reserved;
    struct LineRow {
        std::uint32_t session;
        std::uint32_t turn;
        std::int64_t from;
    };
    std::array<LineRow, line_starts_max> line_starts;
    std::array<std::byte, 1220> reserved;  // zero; readers ignore it
    std::uint32_t record_crc32c;           // of bytes [4096, 8188)
};
static_assert(sizeof(RecordPage) == record_size_bytes);
static_assert(offsetof(RecordPage, node) == 48 && offsetof(RecordPage, file_bytes) == 64);
static_assert(offsetof(RecordPage, crc_words) == 176 && offsetof(RecordPage, nodes_per_file) == 184);
static_assert(offsetof(RecordPage, group_offsets) == 200 && offsetof(RecordPage, plain_bytes) == 2256);
static_assert(offsetof(RecordPage, shared_heads_offset) == 2296 && offsetof(RecordPage, run_id) == 2336);
static_assert(offsetof(RecordPage, line_starts) == 2360 && offsetof(RecordPage, reserved) == 2872);
static_assert(offsetof(RecordPage, record_crc32c) == 4092);

/// One row of `/_forebay/extents`.
struct ExtentRow {
    std::uint64_t offset_bytes;
    std::uint64_t used_bytes;
    std::uint64_t capacity_bytes;
    std::uint64_t shared_offset_bytes;  // only in a shared file; other readers ignore it
};
static_assert(sizeof(ExtentRow) == 32);

/// One row of `/_forebay/index`. Its first cache line holds the fields that change with row counts.
struct IndexRow {
    struct Range {
        std::uint64_t lo;
        std::uint64_t size;
    };
    std::uint64_t variable;
    std::uint64_t rank;
    std::uint64_t offset_bytes;
    std::uint64_t size_bytes;
    std::uint64_t first_segment;
    std::uint64_t dims;
    std::array<Range, dims_max> box;
    std::array<std::uint64_t, 2> reserved;  // zero; readers ignore it
};
static_assert(sizeof(IndexRow) == 24 * sizeof(std::uint64_t) && offsetof(IndexRow, box) == 48);

/// One row of `/_forebay/filters`, for each variable of a version 2 file.
struct FilterRow {
    std::uint32_t filter;
    std::uint32_t chunk_bytes;
    std::uint32_t values_used;
    std::array<std::uint32_t, 8> values;
    std::uint32_t reserved;  // zero; readers ignore it
};
static_assert(sizeof(FilterRow) == 12 * sizeof(std::uint32_t));

/// One row of `/_forebay/chunks`, in a version 2 file.
struct ChunkRow {
    std::uint64_t variable;
    std::uint64_t plain_offset;
    std::uint64_t plain_bytes;
    std::uint64_t stored_offset;
    std::uint64_t stored_bytes;
    std::uint64_t crc32c;
    std::uint64_t filtered;  // 0 or 1
    std::uint64_t effort;
};
static_assert(sizeof(ChunkRow) == 8 * sizeof(std::uint64_t));

/// The datasets of `/_forebay`, in the order of Layout::headers.fields after the variables.
enum class OwnDataset : std::size_t { record, schema, ranks, extents, index, crc32c, filters, chunks };

/// The content of the HDF5 part of a head.
struct HeadParts {
    const Schema& schema;
    std::size_t schema_bytes = 0;  // as JSON
    std::size_t ranks = 0;
    std::span<const Extent> extents;
    std::size_t blocks = 0;
    std::span<const hdf5::Chunking> chunking = {};  // one for each variable of a compressed file; filter 0: contiguous
    std::size_t chunks = 0;
};

/// Stores the fields of a record about its save, node and file.
void store_record(const Record& record, RecordPage& page);

/// Stores one row of the block table.
void store_index_row(std::byte* to, const Block& block);

/// The storage of the file. Only for pages that read_good_page() returned.
inline Storage storage_of(const RecordPage& page) { return static_cast<Storage>(page.version); }
inline bool is_compressed(const RecordPage& page) { return storage_of(page) == Storage::compressed; }
/// Returns true if the offsets belong to a staged file whose bytes lie elsewhere in this file.
inline bool has_plain_form(const RecordPage& page) { return storage_of(page) != Storage::plain; }

/// The fields of a record about its form.
void store_form(const Form& form, RecordPage& page);
Form form_of(const RecordPage& page);
/// `corrupt` if the form is impossible or has no room for this file.
Result<> check_form(const RecordPage& page, const std::string& name);

/// Checks and returns the record in a file's first pages. Errors as peek().
Result<RecordPage> read_good_page(std::span<const std::byte> first_pages, const std::string& name);
Record record_of(const RecordPage& page);
std::uint32_t staged_crc32c_of(const RecordPage& page);

/// The error `corrupt`, with the text for any damage of a head.
Error damaged_head(const std::string& name, const std::string& why);

/// Returns the filters and chunks of a compressed file. `file` must have its schema and extents. `corrupt` unless the
/// chunks cut its variables and lie within it.
Result<ChunkTable> open_chunks(const RecordPage& page, std::span<const std::byte> head, const NodeFile& file,
                               const std::string& name);

/// Fills in the head's checksums and stores its record, the magic last. Returns the record's checksum.
std::uint32_t seal_head(RecordPage page, std::span<std::byte> image);

constexpr std::uint64_t own_entry_bytes(OwnDataset dataset) {
    switch (dataset) {
        case OwnDataset::record:
        case OwnDataset::schema: return 1;
        case OwnDataset::ranks:
        case OwnDataset::crc32c: return sizeof(std::uint32_t);
        case OwnDataset::extents: return sizeof(ExtentRow);
        case OwnDataset::index: return sizeof(IndexRow);
        case OwnDataset::filters: return sizeof(FilterRow);
        case OwnDataset::chunks: return sizeof(ChunkRow);
    }
    return 0;
}

/// The attributes of a variable in the HDF5 part. `flat`: its dataset does not show its shape.
std::vector<hdf5::Attribute> attributes_of(const Variable& variable, bool flat);

/// Returns true if the encoder itself uses this attribute name.
bool is_reserved_attribute(std::string_view name);

/// Encodes the HDF5 headers of all variables and of `/_forebay`.
hdf5::Headers encode_node_headers(const HeadParts& parts);

/// Returns the datasets of one node file: variables, then OwnDataset. `prefix` goes before their paths.
std::vector<hdf5::Dataset> datasets_of(const HeadParts& parts, const std::string& prefix);

}  // namespace forebay::format
