// The parts that the manifest's encoder and decoder share. Bytes: docs/formats/manifest.md, versions 1 to 4.

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
// Version 2 adds combined and compressed node files, 3 shared files, 4 the lineage. A manifest has the lowest version
// that fits.
inline constexpr std::uint64_t manifest_version = 4, lineage_version = 4;
/// The last member of the head: the checksum of all bytes before it.
inline constexpr std::string_view head_crc_begin = "\"head_crc32c\":\"";

/// The last line: `"crc32c":"01234567"}` and a newline. The checksum is of all bytes before the line.
inline constexpr std::string_view crc_line_begin = "\"crc32c\":\"";
inline constexpr std::string_view crc_line_end = "\"}\n";
inline constexpr std::size_t crc_line_bytes = crc_line_begin.size() + 8 + crc_line_end.size();

/// Adds the last line.
void put_crc_line(std::string& out);
/// Returns the reason if the text does not end with a valid last line, else "".
std::string wrong_with_crc_line(std::string_view text);
/// Returns the number of exactly `digits` lower-case hexadecimal digits, or nothing.
std::optional<std::uint64_t> hex_from(std::string_view text, std::size_t digits);

/// Adds `"analysis":"numbers","condition":"*/nan > 0","result":"theta/nan","value":3.0`.
void put_mark(std::string& out, const Mark& mark);
std::optional<Mark> mark_from(json::Value object);

}  // namespace forebay::format
