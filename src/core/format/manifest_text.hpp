// What the manifest's encoder and decoder agree on. Bytes: docs/formats/manifest.md, versions 1 to 4.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/format/json_read.hpp"
#include "core/format/manifest.hpp"

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

/// Adds that line.
void put_crc_line(std::string& out);
/// Why the text does not end with that line; empty: it does.
std::string wrong_with_crc_line(std::string_view text);
/// `digits` small hexadecimal digits, all of them.
std::optional<std::uint64_t> hex_from(std::string_view text, std::size_t digits);

/// `"analysis":"numbers","condition":"*/nan > 0","result":"theta/nan","value":3.0`
void put_mark(std::string& out, const Mark& mark);
std::optional<Mark> mark_from(json::Value object);

}  // namespace forebay::format
