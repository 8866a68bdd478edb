// A particle-mesh simulation of structure in an expanding universe, saved by Forebay.

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "plain_saving.hpp"
#include "report.hpp"
#include "saving.hpp"
#include "screen.hpp"
#include "simulation.hpp"

namespace {

struct Options {
    nbody::Parameters parameters;
    nbody::SavingOptions saving;
    std::int64_t save_every = 10;
    std::int64_t stop_after = 0;
    bool restart = false;
    std::string checksum_file, dump;
    std::string plain;
};

void describe(CLI::App& app, Options& options) {
    auto& p = options.parameters;
    app.add_option("--mesh", p.mesh, "Cells a dimension")->check(CLI::Range(2, 8192))->capture_default_str();
    app.add_option("--particles", p.particles, "Particles a dimension")
        ->check(CLI::Range(1, 8192))
        ->capture_default_str();
    app.add_option("--steps", p.steps, "Steps to a-last")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--seed", p.seed, "Seed of the initial field")->capture_default_str();
    app.add_option("--box", p.box_mpc, "Width of the box in Mpc/h")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--a-first", p.a_first, "Scale factor of the start")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--a-last", p.a_last, "Scale factor of the end")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--sigma-8", p.sigma_8, "Amplitude of the initial field")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();

    auto* run = app.add_option("--run", options.saving.run, "Run directory; without it nothing is saved");
    app.add_option("--save-every", options.save_every, "Steps between saves")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--plain", options.plain,
                   "Save by plain writes into this directory instead, a file a rank, each synced: for comparison")
        ->check(CLI::ExistingDirectory)
        ->excludes(run);
    app.add_flag("--restart", options.restart, "Go on from the newest snapshot, if there is one")->needs(run);
    app.add_option("--config", options.saving.config, "Forebay's TOML file")->check(CLI::ExistingFile)->needs(run);
    app.add_option("--staging", options.saving.staging, "Node-local directory to stage in")->needs(run);
    app.add_option("--virtual-nodes", options.saving.virtual_nodes, "Split each machine's ranks into so many nodes")
        ->check(CLI::PositiveNumber)
        ->needs(run);

    app.add_option("--stop-after", options.stop_after, "End after this step although more are due")
        ->check(CLI::PositiveNumber);
    app.add_option("--checksum-file", options.checksum_file, "Write digests and sums of the last step, as JSON");
    app.add_option("--dump", options.dump, "Write x y z vx vy vz phi of the last step by id, as raw f32");
}

template <class Kind>
std::string save(Kind& saving, const nbody::Simulation& simulation) {
    const auto begun = std::chrono::steady_clock::now();
    const auto trouble = saving.save();
    const std::chrono::duration<double> blocked = std::chrono::steady_clock::now() - begun;
    if (trouble.empty()) return "saved in " + std::to_string(blocked.count()) + " s";
    if (simulation.slab.rank == 0) std::fprintf(stderr, "nbody: %s\n", trouble.c_str());
    return "NOT saved";
}

void evolve(nbody::Simulation& simulation, nbody::Saving* saving, const Options& options) {
    const auto pulse = [saving] {
        if (saving) saving->pulse();
    };
    std::optional<nbody::PlainSaving> plain;
    if (!options.plain.empty()) plain.emplace(simulation, options.plain);
    const auto last =
        options.stop_after > 0 ? std::min(options.stop_after, options.parameters.steps) : options.parameters.steps;
    while (simulation.state.step < last) {
        const auto begun = std::chrono::steady_clock::now();
        pulse();
        simulation.advance(pulse);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
        const bool is_due = simulation.state.step % options.save_every == 0;
        std::string note;
        if (saving) {
            saving->ledger().step_done(taken.count());
            if (is_due) note = save(*saving, simulation);
            else if (saving->draining()) note = "draining";
        }
        if (plain && is_due) note = save(*plain, simulation);
        nbody::print_step(simulation, taken.count(), note);
    }
}

/// Returns true if everything saved became durable.
bool finish(nbody::Simulation& simulation, nbody::Saving* saving, const Options& options) {
    const bool first = simulation.slab.rank == 0;
    const auto report = nbody::report(simulation);
    if (first && !options.checksum_file.empty()) nbody::write_report(options.checksum_file, simulation, report);
    if (!options.dump.empty()) nbody::write_dump(options.dump, simulation);
    if (!saving) return true;
    const auto trouble = saving->close();
    const auto totals = saving->totals();
    if (first) nbody::print_end(totals, saving->ledger());
    if (first && !trouble.empty()) std::fprintf(stderr, "nbody: %s\n", trouble.c_str());
    return trouble.empty();
}

/// The communicator of the ranks that compute. The destructor frees it.
struct Computing {
    explicit Computing(const nbody::SavingOptions& saving) {
        if (!saving.run.empty()) comm = nbody::computing_ranks(MPI_COMM_WORLD, saving);
    }
    Computing(const Computing&) = delete;
    Computing& operator=(const Computing&) = delete;
    ~Computing() {
        if (comm != MPI_COMM_WORLD && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
    MPI_Comm comm = MPI_COMM_WORLD;
};

bool simulate(const Options& options) {
    const Computing computing(options.saving);
    if (computing.comm == MPI_COMM_NULL) return true;
    nbody::Simulation simulation(computing.comm, options.parameters);
    std::optional<nbody::Saving> saving;
    if (!options.saving.run.empty()) saving.emplace(simulation, options.saving);
    nbody::Saving* saver = saving ? &*saving : nullptr;
    const bool restarted = saver && options.restart && saver->restart();
    if (!restarted) simulation.begin();
    if (simulation.slab.rank == 0)
        std::printf("%lld^3 particles, mesh %lld^3, %d ranks, from step %lld\n",
                    static_cast<long long>(options.parameters.particles),
                    static_cast<long long>(options.parameters.mesh), simulation.slab.ranks,
                    static_cast<long long>(simulation.state.step));
    evolve(simulation, saver, options);
    return finish(simulation, saver, options);
}

}  // namespace

// CLI11 may run out of memory; then the program ends. NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
    Options options;
    CLI::App app("A particle-mesh simulation of structure in an expanding universe, saved by Forebay");
    describe(app, options);
    CLI11_PARSE(app, argc, argv);

    MPI_Init(&argc, &argv);
    bool done = false;
    try {
        done = simulate(options);
    } catch (const nbody::SavingError& error) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) std::fprintf(stderr, "nbody: %s\n", error.what());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "nbody: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return done ? 0 : 1;
}
