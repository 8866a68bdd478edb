// Sends every particle to the rank that owns its plane.

#pragma once

#include "particles.hpp"
#include "slab.hpp"

namespace nbody {

/// Particles that stay keep their order. Arrivals follow, ordered by their old rank and their old row. So the same
/// number of ranks gives the same rows, and a restart can be equal bit for bit. Collective.
void migrate(const Slab& slab, Particles& particles);

}  // namespace nbody
