// What the manifest's encoder and decoder agree on. Bytes: docs/formats/manifest.md, version 1.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace forebay::format {

inline constexpr std::string_view manifest_format = "forebay manifest";
inline constexpr std::uint64_t manifest_version = 1;
inline constexpr std::uint64_t manifest_version_2 = 2;  // where a node file is compressed

/// The last line: `"crc32c":"01234567"}` and a newline; the checksum is of all bytes before the line.
inline constexpr std::string_view crc_line_begin = "\"crc32c\":\"";
inline constexpr std::string_view crc_line_end = "\"}\n";
inline constexpr std::size_t crc_line_bytes = crc_line_begin.size() + 8 + crc_line_end.size();

}  // namespace forebay::format
