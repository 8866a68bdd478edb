// The parameters define a simulation. Runs with equal parameters are the same simulation, on any number of ranks.

#pragma once

#include <cmath>
#include <cstdint>

namespace nbody {

struct Parameters {
    std::int64_t mesh = 64;       // cells a dimension
    std::int64_t particles = 64;  // a dimension
    std::int64_t steps = 50;      // from a_first to a_last, equal in log a
    std::uint64_t seed = 1;
    double box_mpc = 200;  // Mpc/h
    double a_first = 0.02;
    double a_last = 1;
    double sigma_8 = 0.8;
    friend bool operator==(const Parameters&, const Parameters&) = default;

    std::int64_t particle_count() const { return particles * particles * particles; }
    double mean_mass() const { return static_cast<double>(particle_count()) / static_cast<double>(mesh * mesh * mesh); }
    /// The scale factor after `step` steps. No repeated products, so a restart finds the same bits.
    double a_at(std::int64_t step) const {
        return a_first * std::exp(std::log(a_last / a_first) * static_cast<double>(step) / static_cast<double>(steps));
    }
};

}  // namespace nbody
