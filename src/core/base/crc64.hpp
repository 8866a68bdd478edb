// CRC-64/XZ (ECMA-182, reflected 0xC96C5795D7870F42, initial value and final xor all ones): the checksum of GenericIO.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay {

/// Continues `crc` (0 at the start) over `bytes`: crc64(b, crc64(a)) is the checksum of a then b.
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc = 0);

/// The same sum, slower: for builds without ISA-L.
std::uint64_t crc64_by_tables(std::span<const std::byte> bytes, std::uint64_t crc = 0);

}  // namespace forebay
