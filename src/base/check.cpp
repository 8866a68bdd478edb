#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace forebay {

void check_failed(const char* condition, const char* text, const char* file, int line) {
    std::fprintf(stderr, "forebay: %s:%d: %s does not hold: %s\n", file, line, condition, text);
    std::abort();
}

}  // namespace forebay
