// Writes a staged node file in its compressed form: it checks, encodes and decodes each chunk, and stores the chunks
// end to end; the head follows. Bytes: docs/formats/node-file.md, version 2.

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

/// The agent keeps it from drain to drain of a stream.
struct CompressionMemory {
    node::CompressionRules rules;
    std::vector<Ladder> ladders;  // one a variable
    double write_seconds = 0;     // for one thread and one stored byte
};

/// The result of one drain.
struct Compressed {
    std::uint64_t plain_bytes = 0, stored_bytes = 0;
    double encode_seconds = 0;                                   // of all threads
    std::vector<std::pair<std::string, std::uint64_t>> efforts;  // plain bytes by effort, the most first
    std::uint64_t refused_chunks = 0;  // decoded to other bytes or exceeded the bound: stored without a filter
};

/// The storage of each variable of the file under the rules.
std::vector<format::StoredVariable> choose_filters(const format::NodeFile& file, const node::CompressionRules& rules);

/// Writes the compressed form of `image` and syncs it. `file` is the head of `image`.
Result<Compressed> write_compressed(const NodeDrain& drain, CompressionMemory& memory, const format::NodeFile& file,
                                    std::span<const std::byte> image, const std::string& path, const std::string& name);

}  // namespace forebay::drain
