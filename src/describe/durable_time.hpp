// How long a save may take until it is durable, by those before it: for the end of a job.

#pragma once

#include <cstdint>

namespace forebay::describe {

/// By how much the longest of `samples` is to be multiplied. The next one is longer than all n before with probability
/// 1 / (n + 1): 2.25 after one, 1.5 after four, 1.3 after twenty.
inline double durable_margin(std::uint64_t samples) {
    return 1.25 + 1 / static_cast<double>(samples == 0 ? 1 : samples);
}

}  // namespace forebay::describe
