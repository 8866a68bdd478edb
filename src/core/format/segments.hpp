// The segments of a node file by offset, for code that reads or checks the file from begin to end.

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

/// Returns segment `i` of a block. The block must have more than `i` segments.
Segment segment_of(const NodeFile& file, std::size_t block, std::uint64_t i);

/// Returns all segments with bytes, by offset. In a shared file: the segments that this node has written.
std::vector<Segment> segments_by_offset(const NodeFile& file);

/// `corrupt`, with variable, rank and byte range, unless `bytes` are the bytes of the application. `name` is the file.
Result<> check_segment(const NodeFile& file, const Segment& segment, std::span<const std::byte> bytes,
                       const std::string& name);

/// The error of check_segment() for a checksum that was computed elsewhere, for example in a copy.
Error damaged(const NodeFile& file, const Segment& segment, std::uint32_t sum, const std::string& name);

}  // namespace forebay::format
