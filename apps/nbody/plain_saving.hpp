// Saves without Forebay: each rank writes its part into its own file and syncs it. The demo compares both kinds of
// saves in the same program.

#pragma once

#include <string>

#include "simulation.hpp"

namespace nbody {

class PlainSaving {
public:
    /// `directory` must exist. `simulation` must outlive this object.
    PlainSaving(const Simulation& simulation, std::string directory)
        : simulation_(simulation), directory_(std::move(directory)) {}

    /// Writes the same arrays as Saving::save(), and returns when all ranks have synced their files. Keeps the two
    /// newest saves. Returns "", or this rank's error. Collective.
    std::string save();

private:
    const Simulation& simulation_;
    std::string directory_;
    int saves_ = 0;
};

}  // namespace nbody
