// Goal: amounts and times are read in every usual form. Any other text is refused with the name of its option. A
//       printed amount reads back as the same amount.
// Method: tables of texts.

#include "core/terminal/sizes.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "core/base/units.hpp"

using namespace forebay;
using namespace forebay::cli;

TEST_CASE("amounts: powers of 1024 as IOR takes them, of 1000 as storage is sold") {
    constexpr std::uint64_t k = 1024;
    const std::pair<const char*, std::uint64_t> amounts[] = {{"0", 0},
                                                             {"4096", 4096},
                                                             {"64K", 64 * k},
                                                             {"64k", 64 * k},
                                                             {"64Ki", 64 * k},
                                                             {"64KiB", 64 * k},
                                                             {"64KB", 64'000},
                                                             {"1.5M", 1536 * k},
                                                             {"64m", 64 * k * k},
                                                             {"2G", 2 * k * k * k},
                                                             {"4.28g", 4'595'615'007},
                                                             {"266MB", 266'000'000},
                                                             {"1T", k * k * k * k},
                                                             {"51432098765", 51'432'098'765}};
    for (const auto& [text, bytes] : amounts) {
        CAPTURE(text);
        const auto read = bytes_from("--size", text);
        REQUIRE(read);
        CHECK(*read == bytes);
    }
}

TEST_CASE("amounts: what is none is refused with an example") {
    for (const char* text : {"", "lots", "-1", "4Q", "4KK", "4 K", "K", "inf", "nan", "1e300", "64Mb", "0x10", "2E"}) {
        CAPTURE(text);
        const auto read = bytes_from("--size", text);
        REQUIRE_FALSE(read);
        CHECK(read.error().kind == ErrorKind::refused);
        CHECK(read.error().what.starts_with("--size "));
        CHECK(read.error().next == "--size 64M");
    }
}

TEST_CASE("amounts: printed ones are read as the same") {
    for (const std::uint64_t bytes :
         {0ull, 1ull, 1000ull, 1024ull, 1536ull, 64ull << 20, 266'000'000ull, 3ull << 40, 1ull << 50}) {
        CAPTURE(bytes);
        CHECK(bytes_from("--size", option_bytes(bytes)).value() == bytes);
    }
    CHECK(option_bytes(64u << 20) == "64M");
    CHECK(option_bytes(266'000'000) == "266000000");
    CHECK(option_bytes(0) == "0");
}

TEST_CASE("times have units") {
    CHECK(seconds_from("--mtbf", "90").value() == 90);
    CHECK(seconds_from("--mtbf", "1.5m").value() == 90);
    CHECK(seconds_from("--mtbf", "12h").value() == 43'200);
    CHECK(seconds_from("--mtbf", "2d").value() == 172'800);
    CHECK_FALSE(seconds_from("--mtbf", "1y"));
}

TEST_CASE("printed bytes and rates have at most three digits before the unit") {
    const std::pair<std::uint64_t, const char*> amounts[] = {
        {999, "999 B"},         {1'000, "1.00 kB"},     {999'499, "999 kB"},
        {999'500, "1.00 MB"},   {999'949, "1.00 MB"},   {9'994'000, "9.99 MB"},
        {9'996'000, "10.0 MB"}, {99'960'000, "100 MB"}, {999'600'000, "1.00 GB"}};
    for (const auto& [bytes, text] : amounts) CHECK(show_bytes(bytes) == text);
    CHECK(show_rate(999.7) == "1.00 kB/s");
}
