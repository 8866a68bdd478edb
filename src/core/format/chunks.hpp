// The compressed form of a node file. The drain makes it from a staged file with compressed variables. Blocks, extents
// and segments keep the offsets of the plain file, and a table of chunks gives the places of the stored bytes. To HDF5
// it is a file of chunked datasets with registered filters. Bytes: docs/formats/node-file.md, version 2.
//
// Pure functions. The module codec has the filters.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::format {

struct NodeFile;

/// How one variable is stored.
struct StoredVariable {
    std::uint16_t filter = 0;           // number of the HDF5 filter; 0: stored as it is, in one piece
    std::vector<std::uint32_t> values;  // the client data of the filter
    std::uint64_t chunk_bytes = 0;      // plain bytes, whole elements; the last chunk is padded with zeros
    friend bool operator==(const StoredVariable&, const StoredVariable&) = default;
};

struct Chunk {
    std::uint32_t variable = 0;
    std::uint64_t plain_offset = 0;   // in the plain file
    std::uint64_t plain_bytes = 0;    // bytes of the variable
    std::uint64_t stored_offset = 0;  // in this file
    std::uint64_t stored_bytes = 0;
    std::uint32_t crc32c = 0;  // of the stored bytes
    bool filtered = false;     // else stored as it is
    std::uint32_t effort = 0;  // compressor * 256 + level, for reports: 1 lz4, 2 zstd; 0 for anything else
    friend bool operator==(const Chunk&, const Chunk&) = default;
};

struct ChunkTable {
    std::vector<StoredVariable> variables;  // one for each variable; empty: the file is not compressed
    std::vector<Chunk> chunks;              // by plain offset
};

/// Cuts the variables of a plain node file into chunks. The chunks have no place yet.
ChunkTable cut_into_chunks(const NodeFile& plain, std::vector<StoredVariable> variables);

/// The begin of the data in the compressed form. It does not depend on the sizes of the chunks.
std::uint64_t compressed_data_offset(const NodeFile& plain, const ChunkTable& table);

/// Returns the whole sealed head of the compressed form, compressed_data_offset() bytes. Each chunk must have its place
/// and its checksum. `words` are the checksums of the decoded segments. They equal the plain file's, except for a lossy
/// filter. `file_bytes` is the length of the compressed file.
std::vector<std::byte> encode_compressed(const NodeFile& plain, const ChunkTable& table,
                                         std::span<const std::uint32_t> words, std::uint64_t file_bytes);

}  // namespace forebay::format
