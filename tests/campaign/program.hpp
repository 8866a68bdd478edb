// One random program: 2 to 4 sessions over one run, and between them what people and machines do to it. The sessions
// are real ones, with agents that are threads, on real directories; what they answer and leave is held against the
// model after each act.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::campaign {

/// A mistake that a program of ours could make, made by the campaign itself: it must be found.
enum class Fault {
    none,
    none_for_unreadable,  // a restart that cannot read what is there begins anew
    removes_left,         // retention removes what the run has left
    copies_over,          // a copy into a living run is made
};

/// What differs from the model, each with the acts that led to it; nothing when all is well.
std::vector<std::string> play(std::uint64_t seed, Fault fault = Fault::none);

/// Seconds that the wall clock is ahead of the machine's: what this executable says the time is.
void shift_clock(std::int64_t seconds);

}  // namespace forebay::campaign
