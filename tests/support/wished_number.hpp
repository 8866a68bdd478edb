// A number from the environment, such as more runs or a seed to repeat.

#pragma once

#include <cstdint>
#include <cstdlib>

namespace forebay::test {

inline std::uint64_t wished_number(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace forebay::test
