// Goal: a log never takes more than twice its limit, keeps its last lines, and loses no line to threads.
// Method: real files; a child process prints as libraries do.

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "core/base/limits.hpp"
#include "core/sys/log_file.hpp"
#include "support/processes.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;

namespace {

std::string numbered(int number) { return "line " + std::to_string(number) + " " + std::string(200, '.'); }

std::vector<std::string> lines_in(const std::string& path) {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

}  // namespace

TEST_CASE("lines are added to what is there, in a file that is closed to others") {
    const test::TempDirectory dir;
    LogFile::open(dir / "log").value().write("one");
    auto log = LogFile::open(dir / "log").value();
    log.write("two");
    CHECK(test::text_in(dir / "log") == "one\ntwo\n");
    struct stat about {};
    REQUIRE(::stat((dir / "log").c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0600);
    std::filesystem::create_symlink(dir / "log", dir / "link");
    CHECK(LogFile::open(dir / "link").error().kind == ErrorKind::refused);
    CHECK(LogFile::open(dir / "no/log").error().kind == ErrorKind::missing);
}

TEST_CASE("a full log is put aside; both hold the last lines without a gap, and no more than twice the limit") {
    const test::TempDirectory dir;
    const auto log = LogFile::open(dir / "log").value();
    constexpr int lines = 20'000;  // four times the limit
    for (int i = 0; i < lines; ++i) log.write(numbered(i));
    CHECK(std::filesystem::file_size(dir / "log") <= limits::log_bytes_max);
    CHECK(std::filesystem::file_size(dir / "log.1") <= limits::log_bytes_max);
    auto all = lines_in(dir / "log.1");
    for (const auto& line : lines_in(dir / "log")) all.push_back(line);
    CHECK(all.size() * numbered(lines).size() > limits::log_bytes_max);
    for (std::size_t i = 0; i < all.size(); ++i)
        REQUIRE(all[i] == numbered(lines - static_cast<int>(all.size()) + static_cast<int>(i)));
    CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 2);
}

TEST_CASE("one that was too long before is put aside by the first line") {
    const test::TempDirectory dir;
    { std::ofstream(dir / "log") << std::string(2 * limits::log_bytes_max, 'x'); }
    std::filesystem::permissions(dir / "log", std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    LogFile::open(dir / "log").value().write("after");
    CHECK(test::text_in(dir / "log") == "after\n");
}

TEST_CASE("lines of several threads are all there, each whole") {
    const test::TempDirectory dir;
    const auto log = LogFile::open(dir / "log").value();
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&log, t] {
                for (int i = 0; i < 1500; ++i) log.write(numbered(t * 1500 + i));
            });
    }
    std::set<std::string> all;
    for (const auto* name : {"log.1", "log"})
        for (const auto& line : lines_in(dir / name)) all.insert(line);
    CHECK(all.size() == 6000);
    CHECK(all.contains(numbered(0)));
    CHECK(all.contains(numbered(5999)));
}

TEST_CASE("what a program prints goes where its log goes, before and after it was put aside") {
    const test::TempDirectory dir;
    const pid_t child = ::fork();
    if (child == 0) {
        const auto log = LogFile::open(dir / "log", true);
        if (!log) ::_exit(1);
        std::fputs("printed early\n", stderr);
        for (int i = 0; i < 5'000; ++i) log->write(numbered(i));
        std::puts("printed late");
        std::fflush(stdout);
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(test::text_in(dir / "log.1").starts_with("printed early\n"));
    CHECK(test::text_in(dir / "log").ends_with("printed late\n"));
}

TEST_CASE("where it cannot be put aside lines are lost, and it grows no more; later ones are written again") {
    const test::TempDirectory dir;
    const auto log = LogFile::open(dir / "log").value();
    std::filesystem::create_directories(dir / "log.1/full");
    for (int i = 0; i < 10'000; ++i) log.write(numbered(i));
    CHECK(std::filesystem::file_size(dir / "log") <= limits::log_bytes_max);
    std::filesystem::remove_all(dir / "log.1");
    log.write("again");
    CHECK(test::text_in(dir / "log").ends_with("again\n"));

    rlimit files{}, none{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
    none = files;
    none.rlim_cur = 0;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    for (int i = 0; i < 10'000; ++i) log.write(numbered(i));
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
    CHECK(std::filesystem::file_size(dir / "log.1") <= limits::log_bytes_max);
    log.write("and again");
    CHECK(test::text_in(dir / "log") == "and again\n");
}
