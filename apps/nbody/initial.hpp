// Initial conditions: a Gaussian random field and the displacements of Zel'dovich.

#pragma once

#include "fourier.hpp"
#include "parameters.hpp"
#include "particles.hpp"
#include "slab.hpp"

namespace nbody {

/// The particles of this rank's slab at parameters.a_first. The seed and the wave numbers alone give each mode's random
/// number: the field is the same on any ranks, and a finer mesh adds waves to the same long waves. Collective.
Particles initial_particles(const Slab& slab, const Parameters& parameters, Fourier& fourier);

}  // namespace nbody
