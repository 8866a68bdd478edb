// Sums over the cells of an array's result. A node keeps patches: boxes of the cells that its blocks reach. Several
// patches may cover one cell. Memory and parts grow with the patches, not with the whole result.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "forebay/describe.hpp"
#include "insight/insitu/operators/binned_sums.hpp"

namespace forebay::insitu {

struct SumPatch {
    BinnedSums sums;                    // one a cell, row-major
    std::vector<std::uint32_t> counts;  // terms of each cell; empty if they are not counted
};

class SumPatches {
public:
    /// `shape` is the shape of the whole result. With `counted` each cell counts its terms.
    SumPatches(const Extents& shape, int bins, bool counted) : shape_(shape), bins_(bins), counted_(counted) {}

    /// The patch of exactly this box of cells. A new patch holds zeros. The reference stays valid.
    SumPatch& patch_of(const Box& cells);

    void write(PartWriter& to) const;
    /// Adds a part from write(). Error texts begin with `name`. After `corrupt` some of the part may already be added.
    Result<> merge(PartReader& from, const std::string& name);

    /// Joins all patches into one patch of the whole shape.
    SumPatch whole() &&;

private:
    using Key = std::array<std::uint64_t, std::size_t{2} * dims_max>;
    static Key key_of(const Box& cells);
    Box box_of(const Key& key) const;
    void add(const Box& cells, SumPatch&& patch);

    Extents shape_;
    int bins_;
    bool counted_;
    std::map<Key, SumPatch> patches_;
};

}  // namespace forebay::insitu
