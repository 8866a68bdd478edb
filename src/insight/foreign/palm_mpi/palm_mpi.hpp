// The header of PALM's MPI-IO restart file: its lists, checked before use. Bytes: docs/formats/palm.md.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "insight/foreign/contents.hpp"

namespace forebay::foreign {

struct PalmMpiHeader {
    bool big_endian = false;
    std::uint64_t points_x = 0, points_y = 0, levels = 0;  // of the grid: nx + 1, ny + 1, nz + 2
    std::uint64_t ghost_layers = 0;                        // stored around the grid

    struct Named {
        std::string name;
        Range place;
    };
    // In file order, repeated names included. A text's place ends with its last non-blank character.
    std::vector<Named> integers, texts, reals;
    std::vector<Named> arrays;  // in the order of their bytes; each ends at the next array
    std::int64_t step = -1;     // current_timestep_number; -1 without it
    double time = 0;            // simulated_time

    std::uint64_t columns() const { return points_x * points_y; }
};

inline constexpr std::uint64_t palm_mpi_header_bytes = 59'880;
inline constexpr std::uint64_t palm_mpi_arrays_begin = 131'072;

/// `header` is the file's first palm_mpi_header_bytes, or all of a shorter file. `refused` for other files, `corrupt`
/// for damage. No place ends after `file_bytes`. `name` is the file's, for errors.
Result<PalmMpiHeader> decode_palm_mpi(std::span<const std::byte> header, std::uint64_t file_bytes,
                                      const std::string& name);

/// Reads the header, samples of arrays whose size fits several types or shapes, and all possible surface data.
Result<ForeignContents> open_palm_mpi(sys::File& file, const std::string& path, const Choices& choices);
Result<ForeignContents> open_palm_mpi(sys::Store& store, const std::string& path, const Choices& choices);

}  // namespace forebay::foreign
