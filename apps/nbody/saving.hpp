// The simulation's interface to Forebay: describe, restart, save, close.

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
    std::string staging;    // "": as configured
    int virtual_nodes = 0;  // 0: as configured
};

/// Totals of the whole program run, for the screen.
struct SavingTotals {
    std::uint64_t saves = 0, skipped = 0, commits = 0, aborts = 0;
    std::uint64_t bytes_saved = 0;    // by all ranks
    std::uint64_t bytes_drained = 0;  // by the slowest node's agent
    double blocked_seconds = 0;       // the slowest rank's
    double wait_seconds = 0;          // part of blocked_seconds: waiting for a free slot
    double drain_seconds = 0;         // the slowest agent's
    std::int64_t newest_durable_step = -1;
    std::uint64_t deadlines_missed = 0, overtakes = 0, limits_overruled = 0;  // on the first rank's node
};

/// Thrown on all ranks alike, with the same text.
struct SavingError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The communicator of the ranks that compute. The configuration may turn other ranks into agents or forwarders: they
/// get MPI_COMM_NULL when their work is done. Throws SavingError. Collective.
MPI_Comm computing_ranks(MPI_Comm world, const SavingOptions& options);

class Saving {
public:
    /// Opens the run and describes the data in `simulation`. `simulation` must outlive this object. Throws SavingError.
    /// Collective.
    Saving(Simulation& simulation, const SavingOptions& options);
    ~Saving();

    /// Fills the simulation from the newest readable snapshot. Returns false if the run has no snapshot. Throws
    /// SavingError if no snapshot is readable, or the snapshot has other parameters. Collective.
    bool restart();

    /// Saves the present step. Returns "", or the error text: the simulation goes on without the save. Collective.
    std::string save();

    /// Call it between the parts of a step. Local.
    void pulse();

    /// Waits for the agents. Returns "", or the text of a failed commit. Collective.
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
