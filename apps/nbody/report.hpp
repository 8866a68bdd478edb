// Compares finished runs: digests that do not depend on order or ranks, sums, and all particles by id.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simulation.hpp"

namespace nbody {

struct Report {
    std::uint64_t particles_digest = 0;  // every bit of every column, by id
    std::uint64_t density_digest = 0;    // every bit, by global cell
    std::uint64_t psi_digest = 0;
    std::uint64_t state_digest = 0;
    std::int64_t particles = 0;
    double mass = 0;                   // on the mesh, in particles
    std::array<double, 3> momentum{};  // sums of vx, vy, vz
    double speed = 0;                  // the sum of |vx| + |vy| + |vz|
    std::uint64_t crossed = 0, tracers = 0;
    std::vector<double> power;  // by shells of wave numbers 1, 2, ...
};

/// Collective.
Report report(Simulation& simulation);

/// Writes a report as one JSON object. Call it on one rank only.
void write_report(const std::string& path, const Simulation& simulation, const Report& report);

/// Writes x y z vx vy vz phi of all particles as little-endian f32, in the order of their ids, from rank 0. Collective.
void write_dump(const std::string& path, const Simulation& simulation);

}  // namespace nbody
