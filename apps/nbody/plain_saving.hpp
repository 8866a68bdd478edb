// Saves as a code without Forebay makes them: each rank writes its part into a file of its own and syncs it. So the
// demo can compare both kinds of saves in the same program.

#pragma once

#include <string>

#include "simulation.hpp"

namespace nbody {

class PlainSaving {
public:
    /// `directory` must exist. `simulation` must outlive this object.
    PlainSaving(const Simulation& simulation, std::string directory)
        : simulation_(simulation), directory_(std::move(directory)) {}

    /// Writes the same arrays as Saving::save(), and returns when all ranks have synced their files. The two newest
    /// saves stay. An empty text, or what went wrong on this rank. Collective.
    std::string save();

private:
    const Simulation& simulation_;
    std::string directory_;
    int saves_ = 0;
};

}  // namespace nbody
