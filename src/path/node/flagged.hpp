// What analyses have to tell the application: a queue on the control page, which the agent fills and the node's first
// rank empties at the end of a step. One of each at a time; neither waits for the other.

#pragma once

#include <cstdint>
#include <vector>

#include "core/format/flagged.hpp"
#include "forebay/options.hpp"
#include "path/node/control.hpp"

namespace forebay::node {

using format::Flagged;

constexpr std::uint32_t bit_of(Analysis::Action action) { return 1u << static_cast<unsigned>(action); }

/// False where the application has not taken the `flagged_max` that came before.
bool put_flagged(Control& page, std::uint32_t stream, const Flagged& flagged);

/// All there are; they are on the page no more.
std::vector<Flagged> take_flagged(Control& page);

}  // namespace forebay::node
