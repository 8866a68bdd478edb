// How long a way takes, beside memcpy of the same bytes in the same turns.

#pragma once

#include <vector>

#include "way.hpp"

namespace bench {

struct Samples {
    std::vector<double> memcpy, visible, durable;  // seconds, of the slowest rank
    std::uint64_t files = 0;                       // at the target, after one save
};

/// One turn that does not count, then `repeats`. Collective.
Samples measure(MPI_Comm comm, const Settings& settings, Data& data, Way& way, int repeats);

}  // namespace bench
