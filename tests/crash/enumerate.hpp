// The enumeration: a script is played once for each of its operations, the programs ended before it; then the next
// programs come, may be ended as well, and everything is judged. A seed gives the same run again.

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
    bool faults = false;  // one call of the target in some fails as well
};

/// What sequences of save, drain, commit, replacement, prune and recover are there to be cut; `seed` makes some of
/// them.
std::vector<Script> scripts(std::uint64_t seed);
/// Those of them in which sessions follow one another, go back or begin anew, or in which packers meet.
std::vector<Script> scripts_of_lines(std::uint64_t seed);

struct Tally {
    std::uint64_t cuts = 0;
    std::uint64_t violations = 0;
    std::vector<std::string> first = {};                               // of the violations, with what repeats them
    std::uint64_t enough = std::numeric_limits<std::uint64_t>::max();  // so many violations end the enumeration
};

/// Plays `script` with every cut. Each cut is followed by the death of the programs and by `power_cuts` power cuts of
/// different losses.
void enumerate(const Script& script, const Programs& programs, std::uint64_t seed, int power_cuts, Tally& tally);

}  // namespace forebay::crash
