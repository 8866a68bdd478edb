// Encodes the chunks of one file, and decodes each of them again for proof. A thread has an encoder of its own, whose
// buffers hold what was encoded last.

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

/// A chunk, or some of one that is stored as it is.
struct EncodedChunk {
    std::span<const std::byte> bytes;    // as they are stored
    std::span<const std::byte> decoded;  // as a reader gets them
    bool filtered = false;               // else `bytes` are what was given
    bool refused = false;                // it did not decode to what was given within the bound, so it is not filtered
    std::uint32_t effort = 0;            // as in format::Chunk
    std::string name = "as it is";       // of the effort
    double seconds = 0;
};

class ChunkEncoder {
public:
    /// `variables` says how each variable of `file` is stored. All of them must outlive it.
    ChunkEncoder(const format::NodeFile& file, const std::vector<format::StoredVariable>& variables,
                 const node::CompressionRules& rules)
        : file_(file), variables_(variables), rules_(rules) {}

    /// `given` is a whole chunk of a variable that has a filter; a shorter one is filled up with zeros. The answer
    /// holds until the next call, and as long as `given`.
    Result<EncodedChunk> encode(std::uint32_t variable, const Effort& effort, std::span<const std::byte> given);

private:
    Result<> filter(std::uint32_t variable, const Effort& effort, EncodedChunk& chunk);

    const format::NodeFile& file_;
    const std::vector<format::StoredVariable>& variables_;
    const node::CompressionRules& rules_;
    PageBuffer plain_, stored_, decoded_;
};

}  // namespace forebay::drain
