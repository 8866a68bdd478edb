// Which stretches of node files fill a stretch of a contiguous dataset, so that a file can be written from its first
// byte to its last whatever the decomposition. Pure; knows no HDF5.

#pragma once

#include <cstdint>
#include <vector>

#include "forebay/describe.hpp"

namespace forebay::views {

/// A box of a dataset, and where its elements lie one after the other: in one node file's flat dataset of a variable.
struct Stored {
    Box box;
    std::uint32_t snapshot = 0;
    std::uint32_t variable = 0;
    std::uint32_t node = 0;  // index into the manifest's nodes
    std::uint64_t first_element = 0;
};

/// The boxes, at most two a dimension, that elements [first, end) of a row-major array are, in their order.
std::vector<Box> slabs_of(const Extents& shape, std::uint64_t first, std::uint64_t end);

/// All boxes of one dataset, to be asked many times.
class Tiling {
public:
    /// Empty boxes are left out.
    Tiling(const Extents& shape, std::vector<Stored> boxes);

    /// What fills elements [first, end) of the dataset: parts of the boxes, each of them again one after the other
    /// where it is stored.
    std::vector<Stored> tiles(std::uint64_t first, std::uint64_t end) const;

    const Extents& shape() const { return shape_; }

private:
    // By first element. `reach` is the end of the farthest box so far, so that both ends of a query are found by
    // halving.
    struct Entry {
        std::uint64_t first = 0, reach = 0;
        std::size_t box = 0;
    };

    Extents shape_;
    std::vector<Stored> boxes_;
    std::vector<Entry> entries_;
};

}  // namespace forebay::views
