// One random program: 2 to 4 sessions over one run, with acts of people and machines between them. The sessions are
// real, with agents as threads and real directories. Answers and files are compared with the model after each act.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::campaign {

/// A mistake that Forebay could have. The campaign makes it itself and must detect it.
enum class Fault {
    none,
    none_for_unreadable,  // a restart that cannot read the run starts it again
    removes_left,         // retention removes saves that the run left
    copies_over,          // a copy is written into a living run
};

/// The differences from the model, each with the acts before it. Empty if there are none.
std::vector<std::string> play(std::uint64_t seed, Fault fault = Fault::none);

/// Sets the seconds by which the wall clock of this executable is ahead of the machine's.
void shift_clock(std::int64_t seconds);

}  // namespace forebay::campaign
