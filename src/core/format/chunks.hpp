// The compressed form of a node file: what the drain makes of a staged one when its variables are compressed. Blocks,
// extents and segments keep the offsets of the plain file; a table of chunks says where their bytes lie. For HDF5 it is
// a file of chunked datasets with registered filters. Bytes: docs/formats/node-file.md, version 2.
//
// Pure functions; the filters themselves are the room codec's.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::format {

struct NodeFile;

/// How one variable is stored.
struct StoredVariable {
    std::uint16_t filter = 0;           // of HDF5; 0: as it is, in one piece
    std::vector<std::uint32_t> values;  // its client data
    std::uint64_t chunk_bytes = 0;      // plain, whole elements; the last chunk is filled up with zeros
    friend bool operator==(const StoredVariable&, const StoredVariable&) = default;
};

struct Chunk {
    std::uint32_t variable = 0;
    std::uint64_t plain_offset = 0;   // in the plain file
    std::uint64_t plain_bytes = 0;    // of the variable
    std::uint64_t stored_offset = 0;  // in this file
    std::uint64_t stored_bytes = 0;
    std::uint32_t crc32c = 0;  // of the stored bytes
    bool filtered = false;     // else stored as it is
    std::uint32_t effort = 0;  // compressor * 256 + level, for reports: 1 lz4, 2 zstd; 0 for anything else
    friend bool operator==(const Chunk&, const Chunk&) = default;
};

struct ChunkTable {
    std::vector<StoredVariable> variables;  // one a variable; empty: the file is not compressed
    std::vector<Chunk> chunks;              // by plain offset
};

/// Cuts the variables of a plain node file into chunks, which have no place yet.
ChunkTable cut_into_chunks(const NodeFile& plain, std::vector<StoredVariable> variables);

/// Where data may begin in the compressed form, whatever the sizes of its chunks.
std::uint64_t compressed_data_offset(const NodeFile& plain, const ChunkTable& table);

/// The whole sealed head of the compressed form, compressed_data_offset() bytes long; every chunk has its place and its
/// checksum. `words` are the checksums of the segments as a reader decodes them: the plain file's, but where a filter
/// is lossy. `file_bytes` is the length of the compressed file.
std::vector<std::byte> encode_compressed(const NodeFile& plain, const ChunkTable& table,
                                         std::span<const std::uint32_t> words, std::uint64_t file_bytes);

}  // namespace forebay::format
