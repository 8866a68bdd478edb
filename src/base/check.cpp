#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace forebay {

void check_failed(const char* condition, const char* text, std::source_location where) {
    std::fprintf(stderr, "forebay: %s:%u: %s: %s does not hold: %s\n", where.file_name(),
                 static_cast<unsigned>(where.line()), where.function_name(), condition, text);
    std::abort();
}

}  // namespace forebay
