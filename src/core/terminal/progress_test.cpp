// Goal: the bar shows progress, rate and time left; it never divides by zero and never counts past the end.

#include <doctest/doctest.h>

#include "core/terminal/progress.hpp"

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

TEST_CASE("progress: the line of a tree") {
    CHECK(Progress::flow_line("copy", {.entries = 12, .bytes = 0}, 2) == "copy: 12 entries");
    CHECK(Progress::flow_line("copy", {.entries = 12, .bytes = 2'000'000}, 2) ==
          "copy: 12 entries, 2.00 MB, 1.00 MB/s");
    // An entry counts as 128 KiB: 100 of 300 entries, and 131,072,000 of 262,144,000 bytes, are 1,100 of 2,300.
    CHECK(Progress::flow_line("copy",
                              {.entries = 100,
                               .bytes = 1'000'000,
                               .passed_bytes = 131'072'000,
                               .all_entries = 300,
                               .all_bytes = 262'144'000},
                              11) ==
          "copy: 100 entries, 1.00 MB, 90.9 kB/s, 48 % of 300 entries and 262 MB, about 12.0 s "
          "left");
    CHECK(Progress::flow_line("delete", {.entries = 50, .all_entries = 100}, 3) ==
          "delete: 50 entries, 50 % of 100 entries, about 3.00 s left");
    CHECK(Progress::flow_line("restore-archive", {.entries = 0, .passed_bytes = 0, .all_bytes = 1'000}, 3) ==
          "restore-archive: 0 entries, 0 % of 1.00 kB");
    CHECK(
        Progress::flow_line("sync", {.entries = 120, .passed_bytes = 9'000, .all_entries = 100, .all_bytes = 5'000}, 3)
            .ends_with("100 % of 100 entries and 5.00 kB, about 0 us left"));
}
