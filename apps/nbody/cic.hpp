// Cloud-in-cell: particles give their mass to the mesh and take values from it. A cell's value belongs to its lower
// corner. A particle shares with the eight corners around it. Every particle must lie in the slab of its rank.

#pragma once

#include <array>
#include <cstdint>

#include "mesh.hpp"
#include "particles.hpp"
#include "slab.hpp"

namespace nbody {

/// The eight corners around a place: weights of lower and upper neighbour along each axis, periodic in y and z.
struct Cloud {
    Cloud(const Slab& slab, double px, double py, double pz);

    /// Calls use(x, y, z, weight) for the eight corners, x counted from the slab's first plane.
    template <class Use>
    void each_corner(Use&& use) const {
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                for (int k = 0; k < 2; ++k) use(x[i], y[j], z[k], weight_x[i] * weight_y[j] * weight_z[k]);
    }

    std::array<std::int64_t, 2> x, y, z;
    std::array<double, 2> weight_x, weight_y, weight_z;
};

/// Adds mass 1 for each particle to `mass`. `mass` must have one plane above the slab. Collective.
void deposit(const Slab& slab, const Particles& particles, Mesh& mass);

/// Interpolates a mesh that has one plane above the slab.
double value_at(const Mesh& mesh, const Cloud& cloud);
/// The same for a mesh of three components.
std::array<double, 3> vector_at(const Mesh& mesh, const Cloud& cloud);

}  // namespace nbody
