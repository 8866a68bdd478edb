// Limits of the readers of foreign files, with their reasons.

#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::foreign::limits {

// The data that an import holds at once, twice: several segments of 1 MiB, long enough for a spinning disk.
inline constexpr std::uint64_t window_bytes = 8u << 20;
// Shorter runs are read together with the gaps between them, if that fits a window.
inline constexpr std::uint64_t short_run_bytes = 64u << 10;
// The bytes examined to guess an array's element type: a segment.
inline constexpr std::uint64_t sample_bytes = 1u << 20;
// Far above any grid along one direction. The bytes of two directions can still be counted.
inline constexpr std::uint64_t grid_points_max = 1u << 28;
// PALM's own schemes need 3; no scheme needs more than this.
inline constexpr std::uint64_t ghost_layers_max = 16;
// Names in PALM's restart data have some 30 characters. Longer texts are not names.
inline constexpr std::uint64_t name_bytes_max = 255;
// The header of a GenericIO file lists variables and ranks: 20 million ranks fit.
inline constexpr std::uint64_t genericio_header_bytes_max = 1u << 30;
// Records of a GenericIO variable are a few floats; each element becomes a column.
inline constexpr std::uint64_t genericio_record_elements_max = 1024;
// Partitions of an export are open at the same time, and a process may open 1024 files.
inline constexpr int genericio_partitions_max = 256;
// More threads than any node has cores: a mistake in a script.
inline constexpr int genericio_threads_max = 1024;
// Blosc counts the bytes of a frame in 31 bits.
inline constexpr std::uint64_t blosc_bytes_max = 0x7fff'ffff;
// The buffer for marks of Fortran records.
inline constexpr std::size_t mark_buffer_bytes = 4096;

}  // namespace forebay::foreign::limits
