// Output for people: a line a step, and at the end the gain and cost of saving. Rank 0 prints.

#pragma once

#include <string>

#include "ledger.hpp"
#include "saving.hpp"
#include "simulation.hpp"

namespace nbody {

/// `note` reports a save or a drain. Collective.
void print_step(const Simulation& simulation, double seconds, const std::string& note);

/// Local. Call it on one rank only.
void print_end(const SavingTotals& totals, const Ledger& ledger);

std::string human_bytes(double bytes);

}  // namespace nbody
