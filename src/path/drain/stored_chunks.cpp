#include "path/drain/stored_chunks.hpp"

#include <algorithm>
#include <functional>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"

namespace forebay::drain {

std::vector<ChunkPiece> StoredChunks::pieces() const {
    std::vector<ChunkPiece> pieces;
    for (std::size_t c = 0; c < table_.chunks.size(); ++c) {
        const auto& chunk = table_.chunks[c];
        const bool filtered = table_.variables[chunk.variable].filter != 0;
        const auto step = filtered ? chunk.plain_bytes : limits::segment_bytes;
        for (std::uint64_t at = 0; at < chunk.plain_bytes; at += step)
            pieces.push_back({c, chunk.plain_offset + at, std::min(step, chunk.plain_bytes - at)});
    }
    return pieces;
}

void StoredChunks::add(const ChunkPiece& piece, const EncodedChunk& encoded, std::uint64_t offset) {
    auto& chunk = table_.chunks[piece.chunk];
    if (piece.offset == chunk.plain_offset) chunk.stored_offset = offset;
    chunk.stored_bytes += encoded.bytes.size();
    chunk.filtered = encoded.filtered;
    chunk.effort = encoded.effort;
    if (encoded.filtered) chunk.crc32c = crc32c(encoded.bytes);
    const bool lossy = table_.variables[chunk.variable].filter == codec::zfp_id;
    if (lossy && rules_.of(file_.schema.variables[chunk.variable].name).error > 0)
        words_.add(piece.offset, encoded.decoded.first(piece.bytes));
    sums_.plain_bytes += piece.bytes;
    sums_.stored_bytes += encoded.bytes.size();
    sums_.encode_seconds += encoded.seconds;
    sums_.refused_chunks += encoded.refused ? 1 : 0;
    efforts_[encoded.name] += piece.bytes;
}

Compressed StoredChunks::sums() const {
    auto sums = sums_;
    for (const auto& [effort, bytes] : efforts_) sums.efforts.emplace_back(effort, bytes);
    std::ranges::sort(sums.efforts, std::greater(), &std::pair<std::string, std::uint64_t>::second);
    return sums;
}

}  // namespace forebay::drain
