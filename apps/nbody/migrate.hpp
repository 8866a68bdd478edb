// Sends every particle to the rank that owns its plane.

#pragma once

#include "particles.hpp"
#include "slab.hpp"

namespace nbody {

/// Those that stay keep their order; arrivals follow in the order of the ranks they come from, and of their rows
/// there. So equal ranks give equal rows, which bit-for-bit restarts rest on. Collective.
void migrate(const Slab& slab, Particles& particles);

}  // namespace nbody
