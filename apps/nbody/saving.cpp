// Every use of Forebay by the simulation: no other file of this program includes forebay/.
//
// The constructor opens the session and describes the stream once, with the variables in the order state, parameters,
// fields, particles. restart() reads the newest snapshot, save() stages a snapshot, pulse() notes the progress of the
// drain, close() waits for the agents. Any number of ranks may restart, because the fields are described with global
// boxes.

#include "saving.hpp"

#include <array>
#include <cstdio>
#include <forebay/mpi.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace nbody {

namespace {

using forebay::Attributes;

/// Returns the value, or throws SavingError with Forebay's text. The text says if data is safe, and the next step.
template <class T>
T need(forebay::Result<T> result) {
    if (!result) throw SavingError(result.error().text());
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

forebay::Options options_of(const SavingOptions& given, int rank) {
    forebay::Options options;
    if (!given.config.empty()) options = need(forebay::load_options(given.config));
    options.run = given.run;
    if (!given.staging.empty()) options.staging = given.staging;
    if (given.virtual_nodes > 0) options.virtual_nodes = given.virtual_nodes;
    if (rank == 0) options.log = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
    return options;
}

const std::vector<forebay::Column>& columns() {
    const auto place = [](const char* axis) {
        return Attributes{.unit = "cell", .description = std::string("comoving place along ") + axis};
    };
    const auto momentum = [](const char* axis) {
        return Attributes{.unit = "cell H0", .description = std::string("a^2 dx/dt along ") + axis};
    };
    static const std::vector<forebay::Column> nine{
        {"x", forebay::f32, place("x")},
        {"y", forebay::f32, place("y")},
        {"z", forebay::f32, place("z")},
        {"vx", forebay::f32, momentum("x")},
        {"vy", forebay::f32, momentum("y")},
        {"vz", forebay::f32, momentum("z")},
        {"phi", forebay::f32, {.unit = "cell^2 H0^2", .description = "psi at the particle"}},
        {"id", forebay::i64, {.description = "place on the initial lattice, row-major"}},
        {"mask", forebay::u16, {.description = "bit 0: the light cone has passed; bit 1: drawn as a tracer"}},
    };
    return nine;
}

}  // namespace

struct Saving::Parts {
    explicit Parts(Simulation& simulation_in) : simulation(simulation_in), stored(simulation_in.parameters) {}

    void describe_state();
    void describe_fields();
    forebay::Result<> bind_particles();

    Simulation& simulation;
    Parameters stored;  // the snapshot's parameters, compared with the simulation's
    std::optional<forebay::Session> session;
    std::optional<forebay::Stream> stream;
    std::optional<forebay::Particles> particles;
    std::int64_t saved_step = -1;
    Ledger ledger;
};

void Saving::Parts::describe_state() {
    auto& state = simulation.state;
    auto& out = *stream;
    need(out.replicated("state/step", &state.step, {.description = "steps done"}));
    need(out.replicated("state/scale_factor", &state.a, {.description = "a, 1 today"}));
    need(out.replicated("state/time", &state.time, {.unit = "1/H0", .description = "cosmic time"}));
    need(out.replicated("state/kinetic_energy", &state.kinetic, {.unit = "cell^2 H0^2"}));
    need(out.replicated("state/potential_energy", &state.potential, {.unit = "cell^2 H0^2"}));
    need(out.replicated("state/expansion_work", &state.expansion_work,
                        {.unit = "cell^2 H0^2", .description = "integral of the kinetic energy over a"}));
    need(out.replicated("state/random", forebay::u64, {4}, state.generator.state().data(),
                        {.description = "xoshiro256** state"}));
    need(out.replicated("parameters/mesh", &stored.mesh, {.description = "cells a dimension"}));
    need(out.replicated("parameters/particles", &stored.particles, {.description = "particles a dimension"}));
    need(out.replicated("parameters/steps", &stored.steps));
    need(out.replicated("parameters/seed", &stored.seed));
    need(out.replicated("parameters/box", &stored.box_mpc, {.unit = "Mpc/h"}));
    need(out.replicated("parameters/a_first", &stored.a_first));
    need(out.replicated("parameters/a_last", &stored.a_last));
    need(out.replicated("parameters/sigma_8", &stored.sigma_8));
}

void Saving::Parts::describe_fields() {
    const auto& slab = simulation.slab;
    const auto at = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
    const auto mesh = at(slab.mesh);
    const forebay::Box box{{at(slab.lo), 0, 0}, {at(slab.planes), mesh, mesh}};
    std::vector<forebay::Piece> density, psi;
    if (slab.planes > 0) {
        density = {forebay::packed(box, simulation.density.data())};
        psi = {forebay::with_halo(box, {1, 0, 0}, simulation.psi.allocation())};
    }
    need(
        stream->array("fields/density", forebay::f32, {mesh, mesh, mesh}, density,
                      {.unit = "mean density", .description = "cloud-in-cell density", .dimensions = {"x", "y", "z"}}));
    need(stream->array(
        "fields/potential", forebay::f64, {mesh, mesh, mesh}, psi,
        {.unit = "cell^2 H0^2", .description = "psi, with laplace(psi) = 1.5 delta", .dimensions = {"x", "y", "z"}}));
}

// The columns move in memory when particles arrive, so each save and each read binds them again.
forebay::Result<> Saving::Parts::bind_particles() {
    std::vector<forebay::ColumnData> data;
    nbody::Particles::each_column(simulation.particles, [&](auto& column) { data.emplace_back(column.data()); });
    return particles->bind(simulation.particles.size(), std::move(data));
}

MPI_Comm computing_ranks(MPI_Comm world, const SavingOptions& options) {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    return need(forebay::dedicate(world, options_of(options, rank)));
}

Saving::Saving(Simulation& simulation, const SavingOptions& options) : parts_(std::make_unique<Parts>(simulation)) {
    auto& parts = *parts_;
    parts.session = need(forebay::open(simulation.slab.comm, options_of(options, simulation.slab.rank)));
    parts.stream = need(parts.session->stream("restart"));
    parts.describe_state();
    parts.describe_fields();
    parts.particles = need(parts.stream->particles("particles", columns()));
}

Saving::~Saving() = default;

bool Saving::restart() {
    auto& parts = *parts_;
    auto& simulation = parts.simulation;
    const auto restart = need(parts.stream->restore([&](forebay::Restart& chosen) {
        simulation.particles.resize(chosen.rows(*parts.particles));
        return parts.bind_particles();
    }));
    if (!restart && !parts.stream->notes().empty())
        throw SavingError("the run has snapshots, but none that can be used. Next: forebay verify on it");
    if (!restart) return false;
    if (!(parts.stored == simulation.parameters))
        throw SavingError("the snapshot of step " + std::to_string(restart->step()) + " in " + restart->source() +
                          " belongs to a simulation with other parameters; it is untouched. Next: give the "
                          "parameters it was made with, or another --run");
    parts.simulation.resume();
    if (parts.simulation.slab.rank == 0)
        std::printf("restart: step %lld, a = %.4f, from %s, %s\n", static_cast<long long>(restart->step()),
                    parts.simulation.state.a, restart->source().c_str(),
                    restart->same_ranks() ? "saved by as many ranks" : "saved by another number of ranks");
    return true;
}

std::string Saving::save() {
    auto& parts = *parts_;
    parts.ledger.save_begins();
    need(parts.bind_particles());
    const auto saved = parts.stream->save(parts.simulation.state.step, parts.simulation.state.time);
    if (!saved) return saved.error().text();
    parts.ledger.save_ended(saved->kept, saved->blocked_seconds);
    if (!saved->kept) return "step " + std::to_string(saved->step) + " was skipped by the stream's policy";
    parts.saved_step = saved->step;
    return "";
}

void Saving::pulse() {
    auto& parts = *parts_;
    parts.ledger.pulse(parts.session->draining(), parts.stream->counters().newest_durable_step >= parts.saved_step);
}

std::string Saving::close() {
    const auto closed = parts_->session->close();
    return closed ? "" : closed.error().text();
}

bool Saving::draining() const { return parts_->session->draining(); }

Ledger& Saving::ledger() { return parts_->ledger; }

SavingTotals Saving::totals() const {
    const auto own_counters = parts_->stream->counters();
    const auto comm = parts_->simulation.slab.comm;
    std::array<double, 3> slowest{own_counters.blocked_seconds, own_counters.wait_seconds, own_counters.drain_seconds};
    MPI_Allreduce(MPI_IN_PLACE, slowest.data(), 3, MPI_DOUBLE, MPI_MAX, comm);
    SavingTotals totals{.saves = own_counters.saves,
                        .skipped = own_counters.skipped,
                        .commits = own_counters.commits,
                        .aborts = own_counters.aborts};
    MPI_Allreduce(&own_counters.bytes_saved, &totals.bytes_saved, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(&own_counters.bytes_drained, &totals.bytes_drained, 1, MPI_UINT64_T, MPI_MAX, comm);
    totals.blocked_seconds = slowest[0];
    totals.wait_seconds = slowest[1];
    totals.drain_seconds = slowest[2];
    totals.newest_durable_step = own_counters.newest_durable_step;
    totals.deadlines_missed = own_counters.deadlines_missed;
    totals.overtakes = own_counters.overtakes;
    totals.limits_overruled = own_counters.limits_overruled;
    return totals;
}

}  // namespace nbody
