// Storage targets in the form of options.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::sys {

/// Parses "14,OST0015", or "@FILE" with such names, as in exclude.targets of a preflight. Errors mention `option`.
Result<std::vector<std::uint32_t>> target_list(const std::string& text, const std::string& option);

}  // namespace forebay::sys
