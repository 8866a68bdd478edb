// Plays a script once for each of its operations, and ends the programs before that operation. Then the next programs
// run and may be ended too, and everything is judged. The same seed repeats a run.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "crash/world.hpp"

namespace forebay::crash {

struct Script {
    std::string name;
    std::function<void(World&)> play;
    bool faults = false;  // some calls of the target fail as well
};

/// All scripts: sequences of save, drain, commit, replacement, prune and recover. `seed` decides the random scripts.
std::vector<Script> scripts(std::uint64_t seed);
/// The scripts with several sessions, with going back, starting from the beginning, or with packers that meet.
std::vector<Script> scripts_of_lines(std::uint64_t seed);

struct Tally {
    std::uint64_t cuts = 0;
    std::uint64_t violations = 0;
    std::vector<std::string> first = {};                               // first violations, ready to repeat
    std::uint64_t enough = std::numeric_limits<std::uint64_t>::max();  // the enumeration ends after so many violations
};

/// Plays `script` with every cut. After each cut the programs die, and then `power_cuts` power cuts lose different
/// data.
void enumerate(const Script& script, const Programs& programs, std::uint64_t seed, int power_cuts, Tally& tally);

}  // namespace forebay::crash
