// Goal: the bar says how far, how fast and how long; it never divides by nothing nor counts past the end.

#include <doctest/doctest.h>

#include "cli/progress.hpp"

using forebay::cli::Progress;

TEST_CASE("progress: the line") {
    CHECK(Progress::line("restart@120", 0, 4'000'000'000, 0) ==
          "restart@120 [........................]   0 %  0 B of 4.00 GB");
    CHECK(Progress::line("restart@120", 1'000'000'000, 4'000'000'000, 2) ==
          "restart@120 [######..................]  25 %  1.00 GB of 4.00 GB  500 MB/s  6.00 s left");
    CHECK(Progress::line("a", 10, 10, 1) == "a [########################] 100 %  10 B of 10 B  10 B/s  0 us left");
    CHECK(Progress::line("a", 0, 0, 1).find("100 %") != std::string::npos);
    CHECK(Progress::line("a", 11, 10, 1).find("0 us left") != std::string::npos);
}
