// Runs work in a forked copy of this process. A library may crash on a damaged file, compute forever, or take all
// memory. Then only the copy ends, and this process goes on.
//
// Life:    run_apart() forks, works in the copy, and waits for its end.
// Threads: only for programs with a single thread: the copy has no other threads.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "forebay/result.hpp"

namespace forebay::sys {

struct ApartBounds {
    /// Memory that the copy may take in addition to the memory of this process.
    std::uint64_t memory_bytes = 0;
    /// The copy is ended if it computes for this long after the last call of `alive`. Waiting for storage does not
    /// count.
    std::chrono::seconds processor_time{};
};

/// Reports progress: the time limit starts again.
using Alive = std::function<void()>;

/// Returns the result of `work`. Its output appears as usual; its other changes are lost with the copy. The error is
/// `corrupt` if the copy crashed or exceeded its processor time, and `retry` if a signal from outside ended it. The
/// copy ends with this process.
Result<int> run_apart(const ApartBounds& bounds, const std::function<Result<int>(const Alive& alive)>& work);

}  // namespace forebay::sys
