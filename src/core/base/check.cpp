#include "core/base/check.hpp"

#include <cstdio>
#include <cstdlib>

#include "core/base/error_text.hpp"

namespace forebay {

void check_failed(const char* condition, const char* text, const char* file, int line) {
    std::fprintf(stderr, "%s%s:%d: %s does not hold: %s\n", program_prefix, file, line, condition, text);
    std::abort();
}

}  // namespace forebay
