#include "lightcone.hpp"

#include <cmath>

#include "random.hpp"

namespace nbody {

namespace {

/// The comoving distance to the observer, 2 (1 - sqrt(a)) c / H0. c makes the cone start in the far corner.
double radius(const Parameters& parameters, double a) {
    const double far_corner = std::sqrt(3.0) * static_cast<double>(parameters.mesh);
    return far_corner * (1 - std::sqrt(a)) / (1 - std::sqrt(parameters.a_first));
}

}  // namespace

void mark_light_cone(const Parameters& parameters, double a_from, double a_to, std::uint64_t draw,
                     Particles& particles) {
    const double outer = radius(parameters, a_from), inner = radius(parameters, a_to);
    for (std::size_t row = 0; row < particles.size(); ++row) {
        const double distance = std::hypot(static_cast<double>(particles.x[row]), static_cast<double>(particles.y[row]),
                                           static_cast<double>(particles.z[row]));
        if (distance < inner || distance >= outer) continue;
        std::uint16_t mask = particles.mask[row] | mask_crossed;
        if (mix(draw, static_cast<std::uint64_t>(particles.id[row])) % 16 == 0) mask |= mask_tracer;
        particles.mask[row] = mask;
    }
}

}  // namespace nbody
