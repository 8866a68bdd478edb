// Finds the stretches of node files that fill a stretch of a contiguous dataset, so that a file can be written from
// start to end for any decomposition. Pure; does not use HDF5.

#pragma once

#include <cstdint>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::views {

/// A box of a dataset. Its elements lie one after another in a node file's flat dataset of a variable.
struct Stored {
    Box box;
    std::uint32_t snapshot = 0;
    std::uint32_t variable = 0;
    std::uint32_t node = 0;  // index into the manifest's nodes
    std::uint64_t first_element = 0;
};

/// The boxes of elements [first, end) of a row-major array, at most two a dimension, in order.
std::vector<Box> slabs_of(const Extents& shape, std::uint64_t first, std::uint64_t end);

/// All boxes of one dataset, for many queries.
class Tiling {
public:
    /// Ignores empty boxes.
    Tiling(const Extents& shape, std::vector<Stored> boxes);

    /// The parts of boxes that fill elements [first, end) of the dataset; each is contiguous in its storage.
    std::vector<Stored> tiles(std::uint64_t first, std::uint64_t end) const;

    const Extents& shape() const { return shape_; }

private:
    // Sorted by first element. `reach` is the farthest end so far, so that binary search finds both ends of a query.
    struct Entry {
        std::uint64_t first = 0, reach = 0;
        std::size_t box = 0;
    };

    Extents shape_;
    std::vector<Stored> boxes_;
    std::vector<Entry> entries_;
};

}  // namespace forebay::views
