// The environment of this process.

#pragma once

#include <string>

namespace forebay::sys {

/// "" if the variable is not set.
std::string environment_value(const char* name);

}  // namespace forebay::sys
