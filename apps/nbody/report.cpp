#include "report.hpp"

#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "lightcone.hpp"

namespace nbody {

namespace {

constexpr int shells = 8;
constexpr int dump_columns = 7;

std::uint64_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }
template <class Integer>
std::uint64_t bits_of(Integer value) {
    return static_cast<std::uint64_t>(value);
}

std::uint64_t digest_particles(const Particles& particles) {
    std::uint64_t sum = 0;  // wraps around; the order of the particles does not matter
    for (std::size_t row = 0; row < particles.size(); ++row) {
        std::uint64_t hash = mix(static_cast<std::uint64_t>(particles.id[row]));
        Particles::each_column(particles, [&](const auto& column) { hash = mix(hash, bits_of(column[row])); });
        sum += hash;
    }
    return sum;
}

template <class Value>
std::uint64_t digest_cells(const Slab& slab, const Value* values) {
    const auto first = static_cast<std::uint64_t>(slab.lo * slab.plane_cells());
    std::uint64_t sum = 0;
    for (std::uint64_t cell = 0; cell < static_cast<std::uint64_t>(slab.cells()); ++cell)
        sum += mix(first + cell, bits_of(values[cell]));
    return sum;
}

std::uint64_t digest_state(const State& state) {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(state.step));
    for (const double value : {state.a, state.time, state.kinetic, state.potential, state.expansion_work})
        hash = mix(hash, bits_of(value));
    for (const auto word : state.generator.state()) hash = mix(hash, word);
    return hash;
}

std::string hex(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

}  // namespace

Report report(Simulation& simulation) {
    const auto& slab = simulation.slab;
    const auto& particles = simulation.particles;
    Report report;
    std::vector<double> sums(5, 0.0);
    std::array<std::uint64_t, 6> counts{digest_particles(particles), 0, 0, particles.size(), 0, 0};
    if (slab.planes > 0) {
        counts[1] = digest_cells(slab, simulation.density.data());
        counts[2] = digest_cells(slab, simulation.psi.at(0, 0, 0));
    }
    for (std::size_t row = 0; row < particles.size(); ++row) {
        const std::array<double, 3> p{particles.vx[row], particles.vy[row], particles.vz[row]};
        for (std::size_t axis = 0; axis < 3; ++axis) sums[axis] += p[axis], sums[3] += std::abs(p[axis]);
        counts[4] += (particles.mask[row] & mask_crossed) != 0;
        counts[5] += (particles.mask[row] & mask_tracer) != 0;
    }
    for (const float value : simulation.density) sums[4] += value;
    sum_over_ranks(slab, sums);
    MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_UINT64_T, MPI_SUM, slab.comm);

    report.particles_digest = counts[0];
    report.density_digest = counts[1];
    report.psi_digest = counts[2];
    report.state_digest = digest_state(simulation.state);
    report.particles = static_cast<std::int64_t>(counts[3]);
    report.crossed = counts[4];
    report.tracers = counts[5];
    report.momentum = {sums[0], sums[1], sums[2]};
    report.speed = sums[3];
    report.mass = sums[4] * simulation.parameters.mean_mass();
    report.power = simulation.density_power(shells);
    return report;
}

void write_report(const std::string& path, const Simulation& simulation, const Report& report) {
    const auto& state = simulation.state;
    const nlohmann::ordered_json json{
        {"step", state.step},
        {"ranks", simulation.slab.ranks},
        {"a", state.a},
        {"time", state.time},
        {"particles", report.particles},
        {"particles_digest", hex(report.particles_digest)},
        {"density_digest", hex(report.density_digest)},
        {"psi_digest", hex(report.psi_digest)},
        {"state_digest", hex(report.state_digest)},
        {"mass", report.mass},
        {"momentum", report.momentum},
        {"speed", report.speed},
        {"kinetic", state.kinetic},
        {"potential", state.potential},
        {"energy_error", state.energy_error()},
        {"crossed", report.crossed},
        {"tracers", report.tracers},
        {"power", report.power},
    };
    std::ofstream file(path);
    file << json.dump(2) << '\n';
    file.close();
    if (!file) throw std::runtime_error("cannot write the report " + path);
}

void write_dump(const std::string& path, const Simulation& simulation) {
    const auto& particles = simulation.particles;
    const auto& slab = simulation.slab;
    // Each row's place in the file is its id. An MPI file view would need sorted rows, so rank 0 gathers all rows.
    std::vector<float> own_values;
    for (std::size_t row = 0; row < particles.size(); ++row)
        for (const auto* column :
             {&particles.x, &particles.y, &particles.z, &particles.vx, &particles.vy, &particles.vz, &particles.phi})
            own_values.push_back((*column)[row]);
    if (slab.rank != 0) {
        const auto rows = static_cast<int>(particles.size());
        MPI_Send(particles.id.data(), rows, MPI_INT64_T, 0, 0, slab.comm);
        MPI_Send(own_values.data(), rows * dump_columns, MPI_FLOAT, 0, 1, slab.comm);
        return;
    }
    std::vector<float> all(static_cast<std::size_t>(simulation.parameters.particle_count()) * dump_columns);
    auto ids = particles.id;
    for (int rank = 0; rank < slab.ranks; ++rank) {
        if (rank > 0) {
            MPI_Status status;
            int rows = 0;
            MPI_Probe(rank, 0, slab.comm, &status);
            MPI_Get_count(&status, MPI_INT64_T, &rows);
            ids.resize(static_cast<std::size_t>(rows));
            own_values.resize(ids.size() * dump_columns);
            MPI_Recv(ids.data(), rows, MPI_INT64_T, rank, 0, slab.comm, MPI_STATUS_IGNORE);
            MPI_Recv(own_values.data(), rows * dump_columns, MPI_FLOAT, rank, 1, slab.comm, MPI_STATUS_IGNORE);
        }
        for (std::size_t row = 0; row < ids.size(); ++row)
            std::copy_n(&own_values[row * dump_columns], dump_columns,
                        &all[static_cast<std::size_t>(ids[row]) * dump_columns]);
    }
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(float)));
    file.close();
    if (!file) throw std::runtime_error("cannot write the dump " + path);
}

}  // namespace nbody
