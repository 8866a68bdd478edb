// Reads all that is stored of a dataset that somebody else wrote, only to see whether it can be: in boxes of some
// megabytes, and none where nothing is stored. A file may claim any shape, so its numbers are never trusted.
//
// Threads: as views/hdf5.hpp.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "insight/h5/hdf5.hpp"

namespace forebay::foreign {

/// Bytes of all elements of a dataset; nothing where 64 bits do not hold the number, as no real dataset has.
std::optional<std::uint64_t> bytes_of(const h5::Id& dataset);

struct ReadThrough {
    std::uint64_t bytes = 0;               // that were read, those of lists and texts of variable length among them
    std::optional<std::string> complaint;  // what follows the dataset's name; nothing when all was read
};

/// `alive` is called with the bytes of each piece that was read.
ReadThrough read_through(const h5::Id& dataset, const std::function<void(std::uint64_t bytes)>& alive);

/// Bytes of a chunk without its filters; 0 where there are none.
std::uint64_t bytes_of_chunk(const h5::Id& dataset, const h5::Id& creation);

}  // namespace forebay::foreign
