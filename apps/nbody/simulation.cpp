#include "simulation.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "cic.hpp"
#include "cosmology.hpp"
#include "initial.hpp"
#include "lightcone.hpp"
#include "migrate.hpp"
#include "poisson.hpp"
#include "wrap.hpp"

namespace nbody {

Simulation::Simulation(MPI_Comm comm, const Parameters& parameters_in)
    : parameters(parameters_in),
      slab(comm, parameters_in.mesh),
      density(static_cast<std::size_t>(slab.cells())),
      psi(slab, 1, 1),
      fourier_(slab),
      mass_(slab, 0, 1),
      gradient_(slab, 0, 1, 3) {}

void Simulation::begin() {
    state = State{};
    state.generator = Generator(parameters.seed);
    state.a = parameters.a_first;
    state.time = cosmic_time(state.a);
    particles = initial_particles(slab, parameters, fourier_);
    deposit_mass();
    solve_forces();
    measure_energies();
    state.expansion_work = -state.a * (state.kinetic + state.potential);
}

// The outermost planes of the box wrap around: they lie outside the global shape, so no restart can fill them.
void Simulation::resume() {
    migrate(slab, particles);
    const auto restored = psi;
    psi.fill_halo(slab);
    const auto plane = static_cast<std::size_t>(slab.plane_cells());
    int differ = 0;
    for (const auto x : {std::int64_t{-1}, slab.planes}) {
        const bool wraps = slab.lo + x < 0 || slab.lo + x >= slab.mesh;
        if (slab.planes == 0 || wraps) continue;
        differ += !std::equal(psi.at(x, 0, 0), psi.at(x, 0, 0) + plane, restored.at(x, 0, 0));
    }
    MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_SUM, slab.comm);
    if (differ > 0)
        throw std::runtime_error("the restart filled " + std::to_string(differ) +
                                 " planes of psi's halo with other values than their owners hold");
    deposit_mass();
    differentiate(slab, psi, gradient_);
}

void Simulation::advance(const std::function<void()>& pulse) {
    const double a_from = state.a, a_to = parameters.a_at(state.step + 1);
    const double a_middle = std::sqrt(a_from * a_to);
    kick(a_from, a_middle);
    pulse();
    drift(a_from, a_to);
    migrate(slab, particles);
    // First migrate: deposit_mass() needs every particle in its rank's slab.
    pulse();
    deposit_mass();
    pulse();
    solve_forces();
    pulse();
    kick(a_middle, a_to);
    pulse();

    ++state.step;
    state.a = a_to;
    state.time = cosmic_time(a_to);
    const double kinetic_from = state.kinetic;
    measure_energies();
    // Every rank draws, also without particles: the generator must stay equal on all ranks.
    state.expansion_work += 0.5 * (kinetic_from + state.kinetic) * (a_to - a_from);
    mark_light_cone(parameters, a_from, a_to, state.generator.draw(), particles);
    pulse();
}

void Simulation::deposit_mass() {
    deposit(slab, particles, mass_);
    const double mean = parameters.mean_mass();
    if (slab.planes == 0) return;
    const double* mass = mass_.at(0, 0, 0);
    for (std::size_t cell = 0; cell < density.size(); ++cell) density[cell] = static_cast<float>(mass[cell] / mean);
}

void Simulation::solve_forces() {
    potential_of_modes_ = solve_potential(slab, mass_, parameters.mean_mass(), fourier_, psi);
    differentiate(slab, psi, gradient_);
}

void Simulation::kick(double a_from, double a_to) {
    const double factor = kick_factor(a_from, a_to);
    auto& p = particles;
    for (std::size_t row = 0; row < p.size(); ++row) {
        const auto slope = vector_at(gradient_, Cloud(slab, p.x[row], p.y[row], p.z[row]));
        p.vx[row] = static_cast<float>(p.vx[row] - factor * slope[0]);
        p.vy[row] = static_cast<float>(p.vy[row] - factor * slope[1]);
        p.vz[row] = static_cast<float>(p.vz[row] - factor * slope[2]);
    }
}

void Simulation::drift(double a_from, double a_to) {
    const double factor = drift_factor(a_from, a_to);
    auto& p = particles;
    for (std::size_t row = 0; row < p.size(); ++row) {
        p.x[row] = wrap(p.x[row] + factor * p.vx[row], parameters.mesh);
        p.y[row] = wrap(p.y[row] + factor * p.vy[row], parameters.mesh);
        p.z[row] = wrap(p.z[row] + factor * p.vz[row], parameters.mesh);
    }
}

void Simulation::measure_energies() {
    auto& p = particles;
    std::vector<double> sums(2, 0.0);
    for (std::size_t row = 0; row < p.size(); ++row) {
        const double vx = p.vx[row], vy = p.vy[row], vz = p.vz[row];
        p.phi[row] = static_cast<float>(value_at(psi, Cloud(slab, p.x[row], p.y[row], p.z[row])));
        sums[0] += 0.5 * (vx * vx + vy * vy + vz * vz);
    }
    sums[1] = potential_of_modes_ * parameters.mean_mass();
    sum_over_ranks(slab, sums);
    state.kinetic = sums[0] / (state.a * state.a);
    state.potential = sums[1] / state.a;
}

std::vector<double> Simulation::density_power(int shells) {
    overdensity_modes(slab, mass_, parameters.mean_mass(), fourier_);
    const double cells = std::pow(static_cast<double>(parameters.mesh), 3);
    std::vector<double> sums(2 * static_cast<std::size_t>(shells), 0.0);  // power and number of modes, alternating
    fourier_.each_mode([&](auto kx, auto ky, auto kz, const auto& mode) {
        const auto shell = std::lround(std::sqrt(static_cast<double>(kx * kx + ky * ky + kz * kz)));
        if (shell < 1 || shell > shells) return;
        const double weight = kz == 0 || 2 * kz == parameters.mesh ? 1 : 2;  // the conjugate half is not stored
        sums[2 * shell - 2] += weight * std::norm(mode) / (cells * cells);
        sums[2 * shell - 1] += weight;
    });
    sum_over_ranks(slab, sums);
    std::vector<double> power;
    for (std::size_t i = 0; i < sums.size(); i += 2) power.push_back(sums[i] / std::max(sums[i + 1], 1.0));
    return power;
}

}  // namespace nbody
