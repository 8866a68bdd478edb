// Encodes the chunks of one file, and decodes each chunk again as a proof. Each thread has its own encoder; its buffers
// hold the last encoded chunk.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/page_buffer.hpp"
#include "core/format/node_file.hpp"
#include "path/drain/effort.hpp"
#include "path/node/compression_rules.hpp"

namespace forebay::drain {

/// A chunk, or a part of a chunk that is stored without a filter.
struct EncodedChunk {
    std::span<const std::byte> bytes;    // the stored bytes
    std::span<const std::byte> decoded;  // the bytes that a reader gets
    bool filtered = false;               // false: `bytes` are the given bytes
    bool refused = false;                // it did not decode to the given bytes within the bound, so it is not filtered
    std::uint32_t effort = 0;            // as in format::Chunk
    std::string name = "as it is";       // of the effort
    double seconds = 0;
};

class ChunkEncoder {
public:
    /// `variables` has the storage of each variable of `file`. All arguments must outlive it.
    ChunkEncoder(const format::NodeFile& file, const std::vector<format::StoredVariable>& variables,
                 const node::CompressionRules& rules)
        : file_(file), variables_(variables), rules_(rules) {}

    /// `given` is a whole chunk of a variable with a filter; a shorter chunk is filled up with zeros. The result is
    /// valid until the next call, and while `given` is.
    Result<EncodedChunk> encode(std::uint32_t variable, const Effort& effort, std::span<const std::byte> given);

private:
    Result<> filter(std::uint32_t variable, const Effort& effort, EncodedChunk& chunk);

    const format::NodeFile& file_;
    const std::vector<format::StoredVariable>& variables_;
    const node::CompressionRules& rules_;
    PageBuffer plain_, stored_, decoded_;
};

}  // namespace forebay::drain
