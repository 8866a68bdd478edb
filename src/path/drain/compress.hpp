// Writes a staged node file in its compressed form: chunks are checked, encoded, decoded again for proof, and stored
// end to end; the head follows them. Bytes: docs/formats/node-file.md, version 2.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "path/drain/effort.hpp"
#include "path/drain/node_drain.hpp"
#include "path/node/compression_rules.hpp"

namespace forebay::drain {

/// What an agent learns about a stream from drain to drain.
struct CompressionMemory {
    node::CompressionRules rules;
    std::vector<Ladder> ladders;  // one a variable
    double write_seconds = 0;     // of one thread, a stored byte
};

/// What one drain did.
struct Compressed {
    std::uint64_t plain_bytes = 0, stored_bytes = 0;
    double encode_seconds = 0;                                   // of all threads
    std::vector<std::pair<std::string, std::uint64_t>> efforts;  // plain bytes by effort, the most first
    std::uint64_t refused_chunks = 0;  // that did not decode to what was given within the bound: stored as they are
};

/// How each variable of the file is stored under the rules.
std::vector<format::StoredVariable> choose_filters(const format::NodeFile& file, const node::CompressionRules& rules);

/// Writes the compressed form of `image`, whose head is `file`, and syncs it.
Result<Compressed> write_compressed(const NodeDrain& drain, CompressionMemory& memory, const format::NodeFile& file,
                                    std::span<const std::byte> image, const std::string& path, const std::string& name);

}  // namespace forebay::drain
