// Work in a copy of this process. A library may crash on a damaged file, compute without an end, or take all memory.
// Then the copy ends, and this process goes on.
//
// Life:    run_apart() forks, works in the copy, and waits for its end.
// Threads: for programs alone, as long as they have one thread: the copy has none of the others.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "forebay/result.hpp"

namespace forebay::sys {

struct ApartBounds {
    /// The copy may take so much memory beside what this process has.
    std::uint64_t memory_bytes = 0;
    /// The copy ends if it computes for so long after the last call of `alive`. Waiting for storage does not count.
    std::chrono::seconds processor_time{};
};

/// Says that the work goes on.
using Alive = std::function<void()>;

/// Gives the result of `work`. Its output appears as usual; its other changes are lost with the copy. The error is
/// `corrupt` if the copy crashed or computed without an end, and `retry` if somebody ended it. The copy ends with this
/// process.
Result<int> run_apart(const ApartBounds& bounds, const std::function<Result<int>(const Alive& alive)>& work);

}  // namespace forebay::sys
