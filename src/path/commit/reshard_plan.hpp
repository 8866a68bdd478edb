// What one node file of a resharded snapshot is made of: which ranks it has, which node files of the source have them,
// its layout, and where each stretch of its bytes lies in the source.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/format/layout.hpp"
#include "core/format/manifest.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/block_reader.hpp"

namespace forebay::commit {

/// Ranks that come from one node file of the source.
struct RankShare {
    std::size_t line = 0;  // in Manifest::nodes
    std::vector<std::uint32_t> ranks;
};

/// Of all node files.
std::uint64_t rank_count(const format::Manifest& manifest);

/// Of new node file `node` of `nodes`, which are at most as many as ranks. Fewer files than before: whole node files
/// are put together, so that 10 become 4 with 2, 3, 2 and 3 of them. More: all ranks, node after node, are dealt out in
/// equal runs, so that 1 node of 8 ranks becomes 3 files of 2, 3 and 3.
std::vector<RankShare> shares_of(const format::Manifest& manifest, std::uint32_t nodes, std::uint32_t node);

/// Bytes of one variable that lie end to end in a node file of the source, and in the new one too.
struct ByteRun {
    std::size_t source = 0;                       // in ReshardedNode::sources
    std::size_t first_block = 0, last_block = 0;  // of the source, both among them
    std::uint64_t source_offset = 0;              // in the plain form of the source
    std::uint64_t offset = 0, bytes = 0;          // in the plain form of the new file

    std::uint64_t end() const { return offset + bytes; }
};

struct ReshardedNode {
    std::vector<catalog::BlockReader> sources;  // closed
    format::Layout layout;
    std::vector<std::byte> head;             // sealed, of the plain form
    std::vector<std::vector<ByteRun>> runs;  // one list a variable, by offset
};

/// Reads the heads of the node files that have the ranks. Of replicated variables the new file has the value of the
/// first of them, or where that holds none, as in a shared file, of node 0. `refused` for more ranks than a node may
/// have; else errors as BlockReader::open().
Result<ReshardedNode> plan_node(sys::Store& store, const std::string& directory, const format::Manifest& manifest,
                                std::uint32_t nodes, std::uint32_t node);

}  // namespace forebay::commit
