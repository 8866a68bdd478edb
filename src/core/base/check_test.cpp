// Goal: if checks are compiled in, a broken check ends the process and reports itself; else its condition is not even
//       evaluated.

#include <doctest/doctest.h>

#include "core/base/check.hpp"

TEST_CASE("check: the condition is evaluated exactly where checks are compiled in") {
    int evaluated = 0;
    FB_CHECK(++evaluated > 0, "a condition that holds");
#ifdef FOREBAY_AUDIT
    CHECK(evaluated == 1);
#else
    CHECK(evaluated == 0);
#endif
}
