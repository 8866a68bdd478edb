// Conditions for the application: a queue on the control page. The agent fills it, and the node's first rank empties it
// at the end of a step. One writer and one reader at a time; neither waits for the other.

#pragma once

#include <cstdint>
#include <vector>

#include "core/format/flagged.hpp"
#include "forebay/options.hpp"
#include "path/node/control.hpp"

namespace forebay::node {

using format::Flagged;

constexpr std::uint32_t bit_of(Analysis::Action action) { return 1u << static_cast<unsigned>(action); }

/// False if the queue is full: the application has not taken the last `flagged_max` conditions.
bool put_flagged(Control& page, std::uint32_t stream, const Flagged& flagged);

/// Takes all conditions from the queue.
std::vector<Flagged> take_flagged(Control& page);

}  // namespace forebay::node
