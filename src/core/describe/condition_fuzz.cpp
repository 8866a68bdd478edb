// Feeds any text to parse_condition(). It must not crash. Accepted text has a pattern and a number; other text is
// `refused`.

#include "core/describe/condition.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto condition = describe::parse_condition({reinterpret_cast<const char*>(data), size});
    if (!condition && (condition.error().kind != ErrorKind::refused || condition.error().what.empty())) std::abort();
    if (condition && (condition->pattern.empty() || std::isnan(condition->number))) std::abort();
    return 0;
}
