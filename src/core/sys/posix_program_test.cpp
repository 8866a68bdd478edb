// Goal: a process goes on as another program and ends with its exit code; a failed start returns its reason.

#include "core/sys/program.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/temp_directory.hpp"

using namespace forebay;

namespace {

// The exit code of a child that becomes the program; 255 if it could not.
int end_of(const std::string& program, const std::vector<std::string>& arguments, const std::string& input = {}) {
    const pid_t child = ::fork();
    if (child == 0) {
        (void)sys::become(program, arguments, {}, input);
        ::_exit(255);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("program: one goes on as another, with all arguments as they are") {
    CHECK(end_of("/bin/sh", {"-c", "exit $#", "sh", "a b", "", "--"}) == 3);
    CHECK(end_of("sh", {"-c", "exit 7"}) == 7);  // from PATH
}

TEST_CASE("program: it reads all of an input that no pipe could hold") {
    const std::string input(1'000'003, 'x');
    CHECK(end_of("sh", {"-c", "test $(wc -c) = 1000003"}, input) == 0);
    CHECK(end_of("sh", {"-c", "read -r line; exit ${#line}"}, "seven !\n") == 7);
}

TEST_CASE("program: none is missing, a file that is none is refused") {
    const test::TempDirectory directory;
    const auto file = directory.path() + "/text";
    CHECK(sys::become(file, {}).kind == ErrorKind::missing);
    CHECK(sys::become("forebay-no-such-program", {}).kind == ErrorKind::missing);
    std::ofstream(file) << "no program";
    const auto refused = sys::become(file, {});
    CHECK(refused.kind == ErrorKind::refused);
    CHECK(refused.text().find(file) != std::string::npos);
}

TEST_CASE("program: knows its own file") {
    CHECK(std::filesystem::equivalent(sys::program_path(), "/proc/self/exe"));
    CHECK(std::filesystem::path(sys::program_path()).filename().string().starts_with("sys_"));
}
