// Sums over the cells of an array's result, of which a node has those patches that its blocks reach: boxes of cells, of
// which several may cover one cell. Memory and parts are as large as the patches, whatever the whole is.

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
    BinnedSums sums;                    // a cell each, row-major
    std::vector<std::uint32_t> counts;  // of the terms of each cell; empty where they are not counted
};

class SumPatches {
public:
    /// `shape`: of the whole result. `counted`: cells have counts.
    SumPatches(const Extents& shape, int bins, bool counted) : shape_(shape), bins_(bins), counted_(counted) {}

    /// The patch of exactly this box of cells, of zeros where it is new. It stays where it is.
    SumPatch& patch_of(const Box& cells);

    void write(PartWriter& to) const;
    /// Adds what write() wrote; `name` is for the text of an error. After `corrupt` some of it may have been added.
    Result<> merge(PartReader& from, const std::string& name);

    /// All of them together, as one patch of the whole shape.
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
