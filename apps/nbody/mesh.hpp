// The values of one slab on the mesh, with planes of its neighbours below and above it. A value has one or more
// components, stored together. A rank without planes stores nothing.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "slab.hpp"

namespace nbody {

class Mesh {
public:
    Mesh(const Slab& slab, int halo_below, int halo_above, int components = 1);

    /// The first component at plane x, row y, cell z. x counts from the slab's first plane: -1 is the plane below.
    double* at(std::int64_t x, std::int64_t y, std::int64_t z) { return values_.data() + index(x, y, z); }
    const double* at(std::int64_t x, std::int64_t y, std::int64_t z) const { return values_.data() + index(x, y, z); }
    double* allocation() { return values_.data(); }
    void clear();

    /// Copies the neighbours' planes into this slab's halo, at most one plane a side. Collective.
    void fill_halo(const Slab& slab);
    /// Adds the mass in the plane above the slab to the neighbour's first plane. Collective.
    void add_halo_above(const Slab& slab);

private:
    std::size_t index(std::int64_t x, std::int64_t y, std::int64_t z) const {
        return static_cast<std::size_t>((((x + below_) * mesh_ + y) * mesh_ + z) * components_);
    }
    int plane_values() const { return static_cast<int>(mesh_ * mesh_ * components_); }

    std::int64_t mesh_;
    int below_, above_, components_;
    std::vector<double> values_;
};

}  // namespace nbody
