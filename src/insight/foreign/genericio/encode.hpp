// Encodes the header of a GenericIO file. docs/formats/genericio.md.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "insight/foreign/genericio/genericio.hpp"

namespace forebay::foreign::genericio {

/// The header's size, with its checksum.
std::uint64_t header_bytes(std::size_t variables, std::size_t ranks, bool blocks);

/// For files without blocks: assigns each rank its place, rank after rank, each variable followed by its checksum, and
/// sets the file size. `refused` for impossible sizes.
Result<> place_plain(GioHeader& header);

/// The header's bytes. If `header.stored` and `filter_of` are set, it has blocks.
std::vector<std::byte> encode(const GioHeader& header);

/// The bytes after data with this checksum.
std::array<std::byte, crc_bytes> trailer(std::uint64_t crc);

/// A small file in memory. `columns` holds each variable's values, rank after rank, in this machine's byte order.
std::vector<std::byte> encode_small(GioHeader header, std::span<const std::vector<std::byte>> columns);

}  // namespace forebay::foreign::genericio
