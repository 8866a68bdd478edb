// Mass to potential, and potential to gradient.

#pragma once

#include "fourier.hpp"
#include "mesh.hpp"
#include "slab.hpp"

namespace nbody {

/// Leaves delta = mass / mean - 1 in `fourier` as modes, not normalised. Collective.
void overdensity_modes(const Slab& slab, const Mesh& mass, double mean, Fourier& fourier);

/// Solves laplace(psi) = 1.5 delta and fills psi's halo. Returns this rank's part of the sum over cells of
/// delta psi / 2, consistent with the forces of differentiate(). Collective.
double solve_potential(const Slab& slab, const Mesh& mass, double mean, Fourier& fourier, Mesh& psi);

/// Central differences of psi. Fills the plane above too. `gradient` must have three components. Collective.
void differentiate(const Slab& slab, const Mesh& psi, Mesh& gradient);

}  // namespace nbody
