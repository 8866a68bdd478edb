// Copies the blocks of one node file into GenericIO files, with several threads.

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

/// An unfinished output file with some of the ranks.
struct GioOutput {
    std::string path;  // its final name; it is written beside it
    GioHeader header;
    std::uint64_t end = 0;  // end of the places assigned so far; only for files with blocks
    std::unique_ptr<sys::File> file;
};

/// The destination of a rank's data.
struct Destined {
    std::uint32_t output = 0;
    std::uint32_t rank = 0;  // in the output
};

/// The block index of a column or a replicated value; `place` counts the ranks of the node.
inline std::size_t block_of(const catalog::BlockReader& node, std::uint32_t variable, std::size_t place) {
    return node.head().first_block[variable] + place;
}

/// Copies each record of all ranks of the node. `done` gets the bytes read since its last call, by one thread at a
/// time. The first error ends all threads.
Result<> copy_node(const catalog::BlockReader& node, std::span<const GioRecord> records, std::span<GioOutput> outputs,
                   std::span<const Destined> ranks, const GioExportOptions& options,
                   const std::function<void(std::uint64_t)>& done);

}  // namespace forebay::foreign::genericio
