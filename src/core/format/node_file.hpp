// A node file's bytes: encode into the mapping, patch when counts change, seal, and open again.
// A node file is valid HDF5 (superblock 0, version-1 headers, contiguous datasets) that we write and read
// without the HDF5 library. Bytes: docs/formats/node-file.md, version 1.
//
// Ranks: encode(), patch_rows(), invalidate() and seal() belong to the node's first rank, after or before the node's
//        barriers; the ranks write data and checksum words between them.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/format/chunks.hpp"
#include "core/format/form.hpp"
#include "core/format/layout.hpp"
#include "core/format/lineage.hpp"

namespace forebay::format {

inline constexpr std::uint64_t record_offset_bytes = 4096;
inline constexpr std::uint64_t record_size_bytes = 4096;
inline constexpr std::uint64_t first_pages_bytes = record_offset_bytes + record_size_bytes;  // HDF5's head, the record

/// The seal of one node file: what turns a filled slot into a snapshot of this node.
struct Record {
    std::uint64_t snapshot_id = 0;  // equal in all node files of one save, different in every other save
    std::int64_t step = 0;
    double time = 0;  // the application's own time, as it gave it
    std::int64_t sealed_unix_ns = 0;
    std::uint32_t node = 0;  // 0 .. nodes-1
    std::uint32_t nodes = 0;
    std::uint32_t world_ranks = 0;
    Form form = {};
    Lineage lineage = {};

    Save which_save() const { return {snapshot_id, sealed_unix_ns, lineage.line(), lineage.save}; }
};

/// Writes the whole head but the record: superblock, HDF5 headers, schema, block table, zeroed checksum words.
/// `image` covers at least layout.data_offset_bytes. The record is left invalid.
void encode(const Layout& layout, std::span<std::byte> image);

/// Brings an encoded head up to date after change_rows(): dataset sizes, block table. About 5 ns a variable and
/// a few ns a block.
void patch_rows(const Layout& layout, std::span<std::byte> image);

/// Brings the places of the variables in a shared file up to date, in layout and image: `offsets` are one a variable.
void patch_shared(Layout& layout, std::span<const std::uint64_t> offsets, std::span<std::byte> image);

/// Makes the file say "not sealed" before the first byte of a new snapshot is copied.
void invalidate(std::span<std::byte> image);

/// Where a rank stores the checksum words of its blocks: words[block.first_segment + i].
std::span<std::uint32_t> crc_words(const Layout& layout, std::span<std::byte> image);

/// Checksums the head and writes the record, its magic last. Returns the record's own checksum, by which
/// manifests name this very file.
std::uint32_t seal(const Layout& layout, const Record& record, std::span<std::byte> image);

/// Gives a sealed file another lineage: `image` covers its record. For a copy in memory that is drained into another
/// run. `corrupt` as peek() when the record is not good.
Result<> change_lineage(const Lineage& lineage, std::span<std::byte> image, const std::string& name);

/// Where the datasets of `/_forebay` lie, in the order of OwnDataset (format/head.hpp), and their elements.
struct OwnPlace {
    std::uint64_t offset_bytes = 0;
    std::uint64_t count = 0;
    friend bool operator==(const OwnPlace&, const OwnPlace&) = default;
};
using OwnPlaces = std::array<OwnPlace, 6>;

/// How the bytes of the variables are stored at the target; the version of the record page.
enum class Storage : std::uint32_t {
    plain = 1,       // where the offsets of the node file say; so are all staged files
    compressed = 2,  // in chunks
    spread = 3,      // in the datasets of a shared file
};

/// A sealed node file's head, checked against its checksums and limits: no offset or size in it reaches past
/// `file_bytes`, blocks lie inside their variable, boxes inside their shape.
struct NodeFile {
    Record record;
    std::uint32_t record_crc32c = 0;
    std::uint32_t staged_crc32c = 0;  // the record's checksum in the staged file that this one was drained from
    std::uint64_t file_bytes = 0;
    std::uint64_t plain_bytes =
        0;                         // of the plain form, which all offsets below are of: file_bytes, if storage is plain
    std::uint64_t head_bytes = 0;  // record, headers, schema, index, checksum words: all of it below data
    Schema schema;
    std::vector<std::uint32_t> ranks;
    std::vector<Extent> extents;  // capacity_bytes as stored
    std::vector<Block> blocks;    // as in Layout
    std::vector<std::size_t> first_block;
    std::vector<std::uint32_t> crc32c;  // one word a segment
    ChunkTable chunk_table;
    OwnPlaces own{};
    Storage storage = Storage::plain;  // spread: `extents` say where in the shared file the variables lie

    /// Whether this node's file holds bytes of variable `v`: in a shared file replicated ones are those of node 0.
    bool stores(std::size_t v) const {
        return storage != Storage::spread || record.node == 0 || schema.variables[v].kind != Kind::replicated;
    }
    std::uint64_t rows(std::uint32_t table) const;  // of the whole node
};

/// What the first 8 KiB of a node file say: enough to name it and to know how much to read for open_head().
struct Peek {
    Record record;
    std::uint32_t record_crc32c = 0;
    std::uint32_t staged_crc32c = 0;  // as in NodeFile
    std::uint64_t file_bytes = 0;
    std::uint64_t head_bytes = 0;
};

/// `first_pages` is the file's first 8192 bytes. `missing`: never sealed (or being filled); `corrupt`: damaged or
/// torn; `unsupported`: a newer version; `refused`: not a node file at all. `name` is used in error texts.
Result<Peek> peek(std::span<const std::byte> first_pages, const std::string& name);

/// `head` is the file's first peek().head_bytes bytes. Errors as peek().
Result<NodeFile> open_head(std::span<const std::byte> head, const std::string& name);

/// Schema <-> JSON, as `/_forebay/schema` and the manifest hold it.
std::string schema_json(const Schema& schema);
Result<Schema> schema_from_json(std::string_view text);

}  // namespace forebay::format
