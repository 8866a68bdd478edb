// The segments of a node file in the order of their bytes, for whoever reads or checks it front to back.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/format/node_file.hpp"

namespace forebay::format {

struct Segment {
    std::uint32_t block = 0;   // index into NodeFile::blocks
    std::uint64_t word = 0;    // index into NodeFile::crc32c
    std::uint64_t offset = 0;  // in the file
    std::uint64_t bytes = 0;
};

/// Segment `i` of a block, which must have so many.
Segment segment_of(const NodeFile& file, std::size_t block, std::uint64_t i);

/// All segments of the file that hold bytes, by offset; in a shared file those that this node has written.
std::vector<Segment> segments_by_offset(const NodeFile& file);

/// `corrupt`, with variable, rank and byte range named, unless `bytes` are what the application gave. `name` is the
/// file.
Result<> check_segment(const NodeFile& file, const Segment& segment, std::span<const std::byte> bytes,
                       const std::string& name);

/// The error of check_segment for a checksum that was computed elsewhere, for example in a copy.
Error damaged(const NodeFile& file, const Segment& segment, std::uint32_t sum, const std::string& name);

}  // namespace forebay::format
