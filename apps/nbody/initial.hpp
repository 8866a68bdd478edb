// Initial conditions: a Gaussian random field and the displacements of Zel'dovich.

#pragma once

#include "fourier.hpp"
#include "parameters.hpp"
#include "particles.hpp"
#include "slab.hpp"

namespace nbody {

/// The particles of this rank's slab at parameters.a_first. Each mode's random number comes from the seed and its wave
/// numbers alone: the field is the same on any ranks, and a finer mesh adds waves to the same long ones. Collective.
Particles initial_particles(const Slab& slab, const Parameters& parameters, Fourier& fourier);

}  // namespace nbody
