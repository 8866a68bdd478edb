// The bytes of a node file: encode into the mapping, patch changed counts, seal, and open again. A node file is valid
// HDF5 (superblock 0, version-1 headers, contiguous datasets), written and read without the HDF5 library. Bytes:
// docs/formats/node-file.md, version 1.
//
// Ranks: the node's first rank calls encode(), patch_rows(), invalidate() and seal(), before or after the node's
// barriers. All ranks write data and checksum words between the barriers.

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
// superblock page and record
inline constexpr std::uint64_t first_pages_bytes = record_offset_bytes + record_size_bytes;

/// The seal of one node file. It turns a filled slot into this node's part of a snapshot.
struct Record {
    std::uint64_t snapshot_id = 0;  // equal in all node files of one save, different in every other save
    std::int64_t step = 0;
    double time = 0;  // the application's own time
    std::int64_t sealed_unix_ns = 0;
    std::uint32_t node = 0;  // 0 .. nodes-1
    std::uint32_t nodes = 0;
    std::uint32_t world_ranks = 0;
    Form form = {};
    Lineage lineage = {};

    Save which_save() const { return {snapshot_id, sealed_unix_ns, lineage.line(), lineage.save}; }
};

/// Writes the whole head except the record: superblock, HDF5 headers, schema, block table, zeroed checksum words.
/// `image` must have at least layout.data_offset_bytes. The record stays invalid.
void encode(const Layout& layout, std::span<std::byte> image);

/// Updates an encoded head after change_rows(): dataset sizes, block table. Takes about 5 ns a variable and a few ns a
/// block.
void patch_rows(const Layout& layout, std::span<std::byte> image);

/// Updates the places of the variables in a shared file, in layout and image. `offsets` has one for each variable.
void patch_shared(Layout& layout, std::span<const std::uint64_t> offsets, std::span<std::byte> image);

/// Marks the file as not sealed. Call it before the first byte of a new snapshot is copied.
void invalidate(std::span<std::byte> image);

/// Returns the checksum words. A rank stores the words of its blocks at words[block.first_segment + i].
std::span<std::uint32_t> crc_words(const Layout& layout, std::span<std::byte> image);

/// Checksums the head and writes the record, its magic last. Returns the record's own checksum, which manifests use to
/// identify this file.
std::uint32_t seal(const Layout& layout, const Record& record, std::span<std::byte> image);

/// Gives a sealed file another lineage, when a copy in memory is drained into another run. `image` must cover the
/// record. Errors as peek() if the record is not good.
Result<> change_lineage(const Lineage& lineage, std::span<std::byte> image, const std::string& name);

/// The place of a dataset of `/_forebay` and its number of elements, in the order of OwnDataset (format/head.hpp).
struct OwnPlace {
    std::uint64_t offset_bytes = 0;
    std::uint64_t count = 0;
    friend bool operator==(const OwnPlace&, const OwnPlace&) = default;
};
using OwnPlaces = std::array<OwnPlace, 6>;

/// The storage of the variables' bytes at the target. It is the version of the record page.
enum class Storage : std::uint32_t {
    plain = 1,       // at the offsets of the node file; all staged files are plain
    compressed = 2,  // in chunks
    spread = 3,      // in the datasets of a shared file
};

/// The head of a sealed node file, checked against its checksums and limits: no offset or size passes `file_bytes`,
/// blocks lie inside their variable, boxes inside their shape.
struct NodeFile {
    Record record;
    std::uint32_t record_crc32c = 0;
    std::uint32_t staged_crc32c = 0;  // the checksum of the record of the staged file
    std::uint64_t file_bytes = 0;
    std::uint64_t plain_bytes = 0;  // of the plain form, as all offsets below; equal to file_bytes if storage is plain
    std::uint64_t head_bytes = 0;   // record, headers, schema, index, checksum words: all before the data
    Schema schema;
    std::vector<std::uint32_t> ranks;
    std::vector<Extent> extents;  // capacity_bytes as stored
    std::vector<Block> blocks;    // as in Layout
    std::vector<std::size_t> first_block;
    std::vector<std::uint32_t> crc32c;  // one word for each segment
    ChunkTable chunk_table;
    OwnPlaces own{};
    Storage storage = Storage::plain;  // spread: `extents` give the places in the shared file

    /// Returns true if this node stores bytes of variable `v`. In a shared file node 0 stores the replicated variables.
    bool stores(std::size_t v) const {
        return storage != Storage::spread || record.node == 0 || schema.variables[v].kind != Kind::replicated;
    }
    std::uint64_t rows(std::uint32_t table) const;  // of the whole node
};

/// The content of a node file's first 8 KiB: enough to identify it, and to know the bytes that open_head() needs.
struct Peek {
    Record record;
    std::uint32_t record_crc32c = 0;
    std::uint32_t staged_crc32c = 0;  // as in NodeFile
    std::uint64_t file_bytes = 0;
    std::uint64_t head_bytes = 0;
};

/// `first_pages` is the file's first 8192 bytes. `missing`: never sealed, or being filled. `corrupt`: damaged or torn.
/// `unsupported`: a newer version. `refused`: not a node file. `name` goes into the error.
Result<Peek> peek(std::span<const std::byte> first_pages, const std::string& name);

/// `head` is the file's first peek().head_bytes bytes. Errors as peek().
Result<NodeFile> open_head(std::span<const std::byte> head, const std::string& name);

/// Converts a schema to JSON and back, for `/_forebay/schema` and the manifest.
std::string schema_json(const Schema& schema);
Result<Schema> schema_from_json(std::string_view text);

}  // namespace forebay::format
