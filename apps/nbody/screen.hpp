// What a person sees: a line a step, and at the end what saving gave and cost. Rank 0 prints.

#pragma once

#include <string>

#include "ledger.hpp"
#include "saving.hpp"
#include "simulation.hpp"

namespace nbody {

/// `note` tells of a save or a drain. Collective.
void print_step(const Simulation& simulation, double seconds, const std::string& note);

/// Local; to be called on one rank.
void print_end(const SavingTotals& totals, const Ledger& ledger);

std::string human_bytes(double bytes);

}  // namespace nbody
