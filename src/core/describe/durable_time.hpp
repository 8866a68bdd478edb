// Predicts how long a save takes until it is durable, from earlier saves. Used at the end of a job.

#pragma once

#include <cstdint>

namespace forebay::describe {

/// The earlier saves of a job. The seconds are the longest of each kind.
struct SavesSoFar {
    std::uint64_t durable = 0;   // number of durable saves
    double save_seconds = 0;     // duration of the call, without the wait for a slot
    double durable_seconds = 0;  // from the seal to the commit
    double ahead_seconds = 0;    // how long the drains under way may last; they go before the next save
};

/// Returns the seconds that a save may need if it begins now. With probability 1 / (n + 1) the next save is longer than
/// n earlier saves. So the longest of them counts 1.25 + 1 / n times: 2.25 times after one save, 1.5 after four, 1.3
/// after twenty. At least one save must be durable.
inline double seconds_to_durable(const SavesSoFar& saves) {
    const double margin = 1.25 + 1 / static_cast<double>(saves.durable);
    return margin * (saves.save_seconds + saves.durable_seconds) + saves.ahead_seconds;
}

}  // namespace forebay::describe
