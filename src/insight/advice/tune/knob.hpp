// What can be set, and a setting as a search sees it: for each knob the index of a value.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace forebay::advice {

/// An option with the values that it may have, in their order if they have one.
struct Knob {
    std::string name;  // of the configuration, as in "agent.block_bytes"
    std::vector<std::string> values;
    std::size_t by_default = 0;  // index into `values`
    bool ordered = true;         // else no value is nearer to one than to another
};

/// For each knob the index of its value.
using Choice = std::vector<std::size_t>;

}  // namespace forebay::advice
