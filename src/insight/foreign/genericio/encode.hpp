// The bytes of a GenericIO file's header. docs/formats/genericio.md.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "insight/foreign/genericio/genericio.hpp"

namespace forebay::foreign::genericio {

/// With its checksum.
std::uint64_t header_bytes(std::size_t variables, std::size_t ranks, bool blocks);

/// Gives each rank its place, rank after rank, each variable with its checksum, and the file its size. For files
/// without blocks. `refused` for sizes that no file can have.
Result<> place_plain(GioHeader& header);

/// The header as it is in the file. `header.stored` and `filter_of` make it one with blocks.
std::vector<std::byte> encode(const GioHeader& header);

/// What stands behind bytes of this checksum.
std::array<std::byte, crc_bytes> trailer(std::uint64_t crc);

/// A small file whole: `columns` holds each variable's values, of one rank after the other, in this machine's order.
std::vector<std::byte> encode_small(GioHeader header, std::span<const std::vector<std::byte>> columns);

}  // namespace forebay::foreign::genericio
