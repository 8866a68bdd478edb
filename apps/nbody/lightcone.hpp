// The light cone of an observer in the box's corner: which particles it has passed, and one in 16 of them, drawn at
// random, as tracers, in the particles' mask.

#pragma once

#include <cstdint>

#include "parameters.hpp"
#include "particles.hpp"

namespace nbody {

inline constexpr std::uint16_t mask_crossed = 1;  // the cone has passed the particle
inline constexpr std::uint16_t mask_tracer = 2;   // and it was drawn as a tracer, one in 16

/// Marks what lies between the cone's radii at the two scale factors. `draw` is the step's random number, equal on all
/// ranks; with the particle's id it decides alone, so the answer does not depend on which rank holds the particle.
/// Local.
void mark_light_cone(const Parameters& parameters, double a_from, double a_to, std::uint64_t draw,
                     Particles& particles);

}  // namespace nbody
