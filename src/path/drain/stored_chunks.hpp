// The stored chunks of one file: their table with places, their checksums after decoding, and their sums. The head of
// the compressed form is made from them.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/format/chunks.hpp"
#include "core/format/segments.hpp"
#include "path/drain/chunk_encoder.hpp"
#include "path/drain/compress.hpp"
#include "path/drain/lossy_words.hpp"

namespace forebay::drain {

/// The work of one thread: a chunk, or a segment of a chunk without a filter.
struct ChunkPiece {
    std::size_t chunk = 0;
    std::uint64_t offset = 0, bytes = 0;  // in the plain file
};

class StoredChunks {
public:
    /// All arguments must outlive it.
    StoredChunks(const format::NodeFile& file, const std::vector<format::Segment>& segments,
                 const node::CompressionRules& rules)
        : file_(file),
          rules_(rules),
          table_(format::cut_into_chunks(file, choose_filters(file, rules))),
          words_(file, segments) {}

    /// The pieces of all chunks, by offset.
    std::vector<ChunkPiece> pieces() const;
    /// The storage of each variable.
    const std::vector<format::StoredVariable>& variables() const { return table_.variables; }
    std::uint32_t variable_of(const ChunkPiece& piece) const { return table_.chunks[piece.chunk].variable; }
    std::uint64_t data_offset() const { return format::compressed_data_offset(file_, table_); }

    /// Records that the next piece is stored from `offset` on. One thread at a time.
    void add(const ChunkPiece& piece, const EncodedChunk& encoded, std::uint64_t offset);

    /// The head of a file of `file_bytes`. Call it when all pieces are stored.
    std::vector<std::byte> head(std::uint64_t file_bytes) const {
        return format::encode_compressed(file_, table_, words_.words(), file_bytes);
    }
    /// The sums over all pieces, without the head.
    Compressed sums() const;

private:
    const format::NodeFile& file_;
    const node::CompressionRules& rules_;
    format::ChunkTable table_;
    LossyWords words_;
    Compressed sums_;
    std::map<std::string, std::uint64_t> efforts_;  // plain bytes by effort
};

}  // namespace forebay::drain
