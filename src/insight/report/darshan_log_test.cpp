// Goal: lines of either reader of Darshan logs become the same files, and what is damaged or absurd becomes an error or
// nothing.
// Method: lines by hand.

#include "insight/report/darshan_log.hpp"

#include <doctest/doctest.h>

using namespace forebay;
using namespace forebay::report;

namespace {

constexpr const char* file_of_1 = R"({"file": "1", "mount": "/s", "from": 0, "targets": [14, 3]})";

std::string posix(const char* rank, const char* written, const char* first, const char* last, const char* seconds) {
    return std::string(R"({"posix": "1", "read": 0, "rank": )") + rank + R"(, "written": )" + written +
           R"(, "first": )" + first + R"(, "last": )" + last + R"(, "seconds": )" + seconds + "}";
}

}  // namespace

TEST_CASE("what several ranks have written of a file is one file") {
    DarshanLines lines;
    REQUIRE(
        lines.add_json(R"({"forebay": "darshan", "reader": "R", "processes": 2, "seconds": 9.5, "partial": true})"));
    REQUIRE(lines.add_json(file_of_1));
    REQUIRE(
        lines.add_json(R"({"file": "1", "mount": "/other", "from": 0, "targets": [7]})"));  // a record of another rank
    REQUIRE(lines.add_json(R"({"file": "1", "mount": "/s", "from": 2, "targets": [5]})"));  // more stripes
    REQUIRE(lines.add_json(posix("0", "100", "2.0", "3.0", "0.5")));
    REQUIRE(lines.add_json(posix("1", "50", "1.0", "2.5", "0.7")));
    REQUIRE(lines.add_json(posix("2", "0", "0.0", "0.0", "0.1")));  // has opened it alone
    CHECK_FALSE(lines.has_ended());
    REQUIRE(lines.add_json(R"({"end": 7})"));
    CHECK(lines.has_ended());
    const auto log = lines.log();
    CHECK(log.reader == "R");
    CHECK(log.processes == 2);
    CHECK(log.is_partial);
    REQUIRE(log.files.size() == 1);
    CHECK(log.files[0].mount == "/s");
    CHECK(log.files[0].targets == std::vector<std::uint32_t>{14, 3, 5});
    CHECK(log.files[0].written == 150);
    CHECK(log.files[0].first == 1.0);
    CHECK(log.files[0].last == 3.0);
    CHECK(log.files[0].seconds == 0.7);
}

TEST_CASE("darshan-parser's lines, with tabs and line feeds in names") {
    DarshanLines lines;
    for (const char* const line :
         {"# nprocs: 2048", "# run time: 779.5000", "# *WARNING*: The POSIX module contains incomplete data!", "",
          "POSIX\t-1\t1\tPOSIX_BYTES_WRITTEN\t100\t/s/a\tb\t/s\tlustre",
          "POSIX\t-1\t1\tPOSIX_F_WRITE_START_TIMESTAMP\t1.5\t/s/a\t/s\tlustre",
          "POSIX\t-1\t1\tPOSIX_F_WRITE_END_TIMESTAMP\t2.5\t/s/a",
          "POSIX\t-1\t1\tPOSIX_F_WRITE_TIME\t900.0\t/s/a\t/s\tlustre",
          "POSIX\t-1\t1\tPOSIX_F_SLOWEST_RANK_TIME\t0.9\t/s/a\t/s\tlustre",
          "LUSTRE\t-1\t1\tLUSTRE_OST_ID_0\t14\t/s/a\t/s\tlustre",
          "LUSTRE\t-1\t1\tLUSTRE_COMP1_OST_ID_1\t3\t/s/a\t/s\tlustre",
          "MPIIO\t0\t1\tMPIIO_BYTES_WRITTEN\t1\t/s/a\t/s\tlustre",
          "POSIX\t0\t2\tPOSIX_BYTES_WRITTEN\t5\t/tmp/x\t/\text4",
          "POSIX\tx\ty\tPOSIX_BYTES_WRITTEN\t5\t/tmp/x\t/\text4"})
        REQUIRE(lines.add_parsed(line));
    const auto log = lines.log();
    CHECK(log.processes == 2048);
    CHECK(log.seconds == 779.5);
    CHECK(log.is_partial);
    CHECK(log.elsewhere == 1);
    REQUIRE(log.files.size() == 1);
    CHECK(log.files[0].mount == "/s");
    CHECK(log.files[0].targets == std::vector<std::uint32_t>{14, 3});
    CHECK(log.files[0].written == 100);
    CHECK(log.files[0].seconds == 0.9);  // of the slowest rank, not of all together
    CHECK(lines.complaint().empty());
}

TEST_CASE("writes of the C library count beside those of POSIX calls, and what was only read is told apart") {
    DarshanLines parsed, lines;
    for (const char* const line :
         {"STDIO\t0\t1\tSTDIO_BYTES_WRITTEN\t30\t/s/a\t/s\tlustre",
          "STDIO\t0\t1\tSTDIO_F_WRITE_START_TIMESTAMP\t1.0\t/s/a\t/s\tlustre",
          "STDIO\t0\t1\tSTDIO_F_WRITE_END_TIMESTAMP\t3.0\t/s/a\t/s\tlustre",
          "POSIX\t0\t1\tPOSIX_BYTES_WRITTEN\t12\t/s/a\t/s\tlustre",
          "POSIX\t0\t1\tPOSIX_F_WRITE_START_TIMESTAMP\t2.0\t/s/a\t/s\tlustre",
          "POSIX\t0\t1\tPOSIX_F_WRITE_END_TIMESTAMP\t4.0\t/s/a\t/s\tlustre",
          "STDIO\t0\t7\tSTDIO_BYTES_WRITTEN\t99\t<STDOUT>\tUNKNOWN\tUNKNOWN",
          "POSIX\t0\t2\tPOSIX_BYTES_READ\t500\t/s/b\t/s\tlustre", "LUSTRE\t0\t1\tLUSTRE_OST_ID_0\t4\t/s/a\t/s\tlustre",
          "LUSTRE\t0\t2\tLUSTRE_OST_ID_0\t5\t/s/b\t/s\tlustre"})
        REQUIRE(parsed.add_parsed(line));
    REQUIRE(lines.add_json(R"({"file": "1", "mount": "/s", "from": 0, "targets": [4]})"));
    REQUIRE(lines.add_json(R"({"file": "2", "mount": "/s", "from": 0, "targets": [5]})"));
    REQUIRE(lines.add_json(
        R"({"stdio": "1", "rank": 0, "read": 0, "written": 30, "first": 1.0, "last": 3.0, "seconds": 1})"));
    REQUIRE(lines.add_json(
        R"({"posix": "1", "rank": 0, "read": 0, "written": 12, "first": 2.0, "last": 4.0, "seconds": 1})"));
    REQUIRE(
        lines.add_json(R"({"posix": "2", "rank": 0, "read": 500, "written": 0, "first": 0, "last": 0, "seconds": 1})"));
    for (const auto& log : {parsed.log(), lines.log()}) {
        REQUIRE(log.files.size() == 1);
        CHECK(log.files[0].written == 42);
        CHECK(log.files[0].first == 1.0);
        CHECK(log.files[0].last == 4.0);
        CHECK(log.elsewhere == 0);
        CHECK(log.only_read == 1);
        CHECK(log.only_read_bytes == 500);
    }
}

TEST_CASE("a reader's error, its complaints, and lines that are not as they must be") {
    DarshanLines lines;
    CHECK(lines.add_json(R"({"error": "none", "kind": "missing"})").error().kind == ErrorKind::missing);
    CHECK(lines.add_json(R"({"error": "torn", "kind": "x"})").error().kind == ErrorKind::corrupt);
    REQUIRE(lines.add_json("some warning"));
    CHECK_FALSE(lines.has_failed());
    REQUIRE(lines.add_json("Error: failed"));
    REQUIRE(lines.add_json("and more"));
    CHECK(lines.has_failed());
    CHECK(lines.complaint() == "Error: failed");
    for (const char* const line :
         {"{}", "[]", "7", R"({"end": 5})", R"({"file": "x", "from": 0, "targets": []})",
          R"({"file": "1", "from": -1, "targets": []})", R"({"posix": "1"})", R"({"posix": "-1", "rank": 0})"}) {
        CAPTURE(line);
        DarshanLines others;
        CHECK(others.add_json(line).error().kind == ErrorKind::corrupt);
    }
}

TEST_CASE("absurd numbers are nothing") {
    DarshanLines lines;
    REQUIRE(lines.add_json(R"({"file": "1", "mount": "/s", "from": 0, "targets": [-1, 4294967296, 2]})"));
    REQUIRE(lines.add_json(posix("0", "-1", "0", "1", "1")));
    REQUIRE(lines.add_json(posix("1", "1e300", "\"nan\"", "5", "\"inf\"")));
    REQUIRE(lines.add_json(posix("2", "10", "5", "4", "1")));  // ends before it begins
    const auto log = lines.log();
    REQUIRE(log.files.size() == 1);
    CHECK(log.files[0].targets == std::vector<std::uint32_t>{2});
    CHECK(log.files[0].written == 1'000'000'000'000'000'000);
    CHECK(log.files[0].first == 0);
    CHECK(log.files[0].last == 5);
}
