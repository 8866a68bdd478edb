// Offsets and sizes in a GenericIO file's header. docs/formats/genericio.md has the table.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace forebay::foreign::genericio {

using namespace std::string_view_literals;

inline constexpr std::size_t magic_bytes = 8;
inline constexpr auto magic_little = "HACC01L\0"sv, magic_big = "HACC01B\0"sv;

// The global header. Older files store smaller sizes; a field exists if it ends within the stored size.
inline constexpr std::uint64_t at_header_bytes = 8, at_elements = 16, at_dims = 24;
inline constexpr std::uint64_t at_variables = 48, at_ranks = 72;  // each: count, bytes of an entry, start
inline constexpr std::uint64_t at_global_bytes = 96, at_phys_origin = 104, at_phys_scale = 128, at_blocks = 152;
inline constexpr std::uint64_t global_header_least = 104, global_header_bytes = 168;

inline constexpr std::uint64_t name_field_bytes = 256;
inline constexpr std::uint64_t at_flags = 256, at_record_bytes = 264, at_element_bytes = 272;
inline constexpr std::uint64_t variable_bytes_least = 272, variable_bytes = 280;

inline constexpr std::uint64_t at_rank_elements = 24, at_rank_start = 32, at_global_rank = 40;
inline constexpr std::uint64_t rank_bytes_least = 40, rank_bytes = 48;

inline constexpr std::size_t filters_max = 4;
inline constexpr std::uint64_t filter_bytes = 8;
inline constexpr std::uint64_t at_block_start = 32, at_block_bytes = 40;
inline constexpr std::uint64_t block_bytes = 48;
inline constexpr std::size_t filters_known_max = 64;  // in one file; only three names exist

}  // namespace forebay::foreign::genericio
