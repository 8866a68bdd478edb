// Storage targets as options name them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::sys {

/// "14,OST0015", or "@FILE" with such names, as an exclude.targets of a preflight has them. `option` stands in errors.
Result<std::vector<std::uint32_t>> target_list(const std::string& text, const std::string& option);

}  // namespace forebay::sys
