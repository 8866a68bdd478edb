// Blocks of one node file into GenericIO files, by several threads.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "insight/foreign/genericio/export.hpp"
#include "path/catalog/block_reader.hpp"

namespace forebay::foreign::genericio {

/// A file that is being made, of some ranks.
struct GioOutput {
    std::string path;  // its own name; it is written beside it
    GioHeader header;
    std::uint64_t end = 0;  // of what is given away so far; of files with blocks
    std::unique_ptr<sys::File> file;
};

/// Where a rank's data go.
struct Destined {
    std::uint32_t output = 0;
    std::uint32_t rank = 0;  // in it
};

/// Index of the block of a column or a replicated value; `place` counts the ranks of the node.
inline std::size_t block_of(const catalog::BlockReader& node, std::uint32_t variable, std::size_t place) {
    return node.head().first_block[variable] + place;
}

/// All ranks of the node, each variable of each. `done` is called with the bytes that were read since; not by two
/// threads at once. The first error ends all threads.
Result<> copy_node(const catalog::BlockReader& node, std::span<const GioRecord> records, std::span<GioOutput> outputs,
                   std::span<const Destined> ranks, const GioExportOptions& options,
                   const std::function<void(std::uint64_t)>& done);

}  // namespace forebay::foreign::genericio
