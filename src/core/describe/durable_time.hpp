// How long a save may take until it is durable, by those before it: for the end of a job.

#pragma once

#include <cstdint>

namespace forebay::describe {

/// What a job has seen of its own saves; seconds are those of the longest.
struct SavesSoFar {
    std::uint64_t durable = 0;   // how many are
    double save_seconds = 0;     // the call, without waiting for a slot
    double durable_seconds = 0;  // from the seal to the commit
    double ahead_seconds = 0;    // what is under way may last so long, and goes before the next save
};

/// What a save that begins now may need. The next one of n + 1 is longer than all before with probability 1 / (n + 1),
/// so their longest counts 1.25 + 1 / n times: 2.25 times after one, 1.5 after four, 1.3 after twenty. At least one
/// must be durable.
inline double seconds_to_durable(const SavesSoFar& saves) {
    const double margin = 1.25 + 1 / static_cast<double>(saves.durable);
    return margin * (saves.save_seconds + saves.durable_seconds) + saves.ahead_seconds;
}

}  // namespace forebay::describe
