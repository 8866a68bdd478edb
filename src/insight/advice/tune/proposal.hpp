// Which setting to try next, from those that were tried: as a tree-structured Parzen estimator does it (Bergstra et
// al., 2011) over a few knobs of a few values each, or a neighbour of the best one in one knob. Pure.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "insight/advice/tune/knob.hpp"

namespace forebay::advice {

/// A choice for which `may_try` says yes, the best of some dozens by the share of its values among the good of `ranked`
/// (best first; a quarter of them is good) over that among the others. Every second call, by `turn`, looks at the
/// neighbours of the best alone. Nothing where all that it has looked at may not be tried.
std::optional<Choice> propose(const std::vector<Knob>& knobs, const std::vector<Choice>& ranked,
                              const std::function<bool(const Choice&)>& may_try, std::uint64_t seed,
                              std::uint64_t turn);

}  // namespace forebay::advice
