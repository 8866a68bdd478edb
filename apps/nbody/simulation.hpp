// The whole simulation on one rank, and its step.
//
// Life: Simulation -> begin(), or restored members and resume() -> advance() ...
// Saved:   state, particles, density, psi. The rest follows from them and the parameters.
// Ranks:   every member function is collective.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fourier.hpp"
#include "mesh.hpp"
#include "parameters.hpp"
#include "particles.hpp"
#include "random.hpp"
#include "slab.hpp"

namespace nbody {

/// Equal on all ranks.
struct State {
    std::int64_t step = 0;
    double a = 0;
    double time = 0;     // in 1 / H0
    double kinetic = 0;  // of peculiar velocities, with particle mass 1
    double potential = 0;
    /// a (kinetic + potential) + expansion_work stays 0 (Layzer and Irvine) except for errors of the steps.
    double expansion_work = 0;
    Generator generator{0};

    double energy_error() const { return a * (kinetic + potential) + expansion_work; }
};

class Simulation {
public:
    Simulation(MPI_Comm comm, const Parameters& parameters);

    /// Makes the initial conditions.
    void begin();
    /// Goes on from restored members; the particles may lie on any rank. Compares the restored planes of psi's halo
    /// with their owners' planes, and throws on all ranks if a plane differs.
    void resume();
    /// One step, kick-drift-kick; calls `pulse` between its parts.
    void advance(const std::function<void()>& pulse);

    /// The power |delta_k|^2 in shells of whole wave numbers 1 .. shells.
    std::vector<double> density_power(int shells);

    const Parameters parameters;
    const Slab slab;
    State state;
    Particles particles;
    std::vector<float> density;  // in units of the mean, without halo
    Mesh psi;                    // with one plane below and above

private:
    void deposit_mass();
    void solve_forces();
    void kick(double a_from, double a_to);
    void drift(double a_from, double a_to);
    void measure_energies();

    Fourier fourier_;
    Mesh mass_;
    Mesh gradient_;
    double potential_of_modes_ = 0;  // this rank's part of the sum of delta psi / 2
};

}  // namespace nbody
