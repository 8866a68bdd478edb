// Options to tune, and a setting as the search sees it: the index of a value for each knob.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace forebay::advice {

/// An option and its possible values, in order if they have an order.
struct Knob {
    std::string name;  // in the configuration: "agent.block_bytes"
    std::vector<std::string> values;
    std::size_t by_default = 0;  // index into `values`
    bool ordered = true;         // false: no two values are neighbours
};

/// The index of a value for each knob.
using Choice = std::vector<std::size_t>;

}  // namespace forebay::advice
