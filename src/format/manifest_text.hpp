// What the manifest's encoder and decoder agree on. Bytes: docs/formats/manifest.md, versions 1 to 4.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace forebay::format {

inline constexpr std::string_view manifest_format = "forebay manifest";
// The second has combined and compressed node files, the third shared files, the fourth says where the snapshot stands
// in the history of its run; what has none of these is written as an earlier one.
inline constexpr std::uint64_t manifest_version = 4, lineage_version = 4;
/// The last member of the head: the checksum is of all bytes before it.
inline constexpr std::string_view head_crc_begin = "\"head_crc32c\":\"";

/// The last line: `"crc32c":"01234567"}` and a newline; the checksum is of all bytes before the line.
inline constexpr std::string_view crc_line_begin = "\"crc32c\":\"";
inline constexpr std::string_view crc_line_end = "\"}\n";
inline constexpr std::size_t crc_line_bytes = crc_line_begin.size() + 8 + crc_line_end.size();

}  // namespace forebay::format
