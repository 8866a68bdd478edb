// All that this simulation has to do with Forebay: describe, restart, save, close.

#pragma once

#include <mpi.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "ledger.hpp"
#include "simulation.hpp"

namespace nbody {

struct SavingOptions {
    std::string run;
    std::string config;     // TOML; "" for the defaults
    std::string staging;    // "" as configured
    int virtual_nodes = 0;  // 0 as configured
};

/// Totals of the whole run of the program, for the screen.
struct SavingTotals {
    std::uint64_t saves = 0, skipped = 0, commits = 0, aborts = 0;
    std::uint64_t bytes_saved = 0;    // by all ranks
    std::uint64_t bytes_drained = 0;  // by the slowest node's agent
    double blocked_seconds = 0;       // the slowest rank's
    double wait_seconds = 0;          // of it: for a free slot
    double drain_seconds = 0;         // the slowest agent's
    std::int64_t newest_durable_step = -1;
    std::uint64_t deadlines_missed = 0, overtakes = 0, limits_overruled = 0;  // on the first rank's node
};

/// Thrown on all ranks alike, with the same text.
struct SavingError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The ranks that compute: all, but for those that the configuration makes agents or forwarders. MPI_COMM_NULL on such
/// a rank, when its work is done. Throws SavingError. Collective.
MPI_Comm computing_ranks(MPI_Comm world, const SavingOptions& options);

class Saving {
public:
    /// Opens the run and describes what `simulation` holds, which must outlive this object. Throws SavingError.
    /// Collective.
    Saving(Simulation& simulation, const SavingOptions& options);
    ~Saving();

    /// Fills the simulation from the newest snapshot that reads whole; false when the run has none. Throws SavingError
    /// when there are snapshots but none that reads whole or belongs to these parameters. Collective.
    bool restart();

    /// Saves the present step. An empty text, or what went wrong: the simulation goes on without. Collective.
    std::string save();

    /// To be called between the parts of a step. Local.
    void pulse();

    /// Waits for the agents; an empty text, or what could not be committed. Collective.
    std::string close();

    bool draining() const;
    Ledger& ledger();
    /// Collective.
    SavingTotals totals() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace nbody
