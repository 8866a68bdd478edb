// Reads all stored data of a foreign dataset, only to see if it can be read: in boxes of some megabytes, and none
// without stored data. A file may contain any shape, so no number is trusted.
//
// Threads: as views/hdf5.hpp.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "insight/h5/hdf5.hpp"

namespace forebay::foreign {

/// Bytes of all elements of a dataset; nothing if 64 bits overflow, as for no real dataset.
std::optional<std::uint64_t> bytes_of(const h5::Id& dataset);

struct ReadThrough {
    std::uint64_t bytes = 0;               // bytes read, with lists and texts of variable length
    std::optional<std::string> complaint;  // completes "'NAME' ..."; nothing if all was read
};

/// Calls `alive` with the bytes of each piece read.
ReadThrough read_through(const h5::Id& dataset, const std::function<void(std::uint64_t bytes)>& alive);

/// Bytes of a chunk without filters; 0 if there are no chunks.
std::uint64_t bytes_of_chunk(const h5::Id& dataset, const h5::Id& creation);

}  // namespace forebay::foreign
