// The light cone of an observer in the box's corner. The particles' mask shows if the cone has passed a particle, and
// if the particle was then drawn as a tracer (one in 16, at random).

#pragma once

#include <cstdint>

#include "parameters.hpp"
#include "particles.hpp"

namespace nbody {

inline constexpr std::uint16_t mask_crossed = 1;  // the cone has passed the particle
inline constexpr std::uint16_t mask_tracer = 2;   // drawn as a tracer

/// Marks the particles between the cone's radii at the two scale factors. `draw` is the step's random number, equal on
/// all ranks. `draw` and the particle's id alone decide, so the answer does not depend on the rank that holds it.
/// Local.
void mark_light_cone(const Parameters& parameters, double a_from, double a_to, std::uint64_t draw,
                     Particles& particles);

}  // namespace nbody
