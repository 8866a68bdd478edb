#include <cstdlib>

#include "core/sys/environment.hpp"

namespace forebay::sys {

std::string environment_value(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

}  // namespace forebay::sys
