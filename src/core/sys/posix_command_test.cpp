// Goal: the output of a program comes back whole, a failure with its reason, and a program that hangs is ended in time.

#include <doctest/doctest.h>

#include "core/sys/clock.hpp"
#include "core/sys/process.hpp"
#include "support/processes.hpp"
#include "support/soon.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;

TEST_CASE("output, errors and an argument with blanks") {
    CHECK(sys::output_of({"printf", "a b\n"}, 10s).value() == "a b\n");
    CHECK(sys::output_of({"sh", "-c", "echo one; echo two >&2"}, 10s).value() == "one\ntwo\n");
    CHECK(sys::output_of({"true"}, 10s).value().empty());
}

TEST_CASE("a failure tells how and what was said") {
    const auto failed = sys::output_of({"sh", "-c", "echo no such job; exit 3"}, 10s);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().kind == ErrorKind::broken);
    CHECK(failed.error().what == "sh ended with exit code 3: no such job");
    CHECK(sys::output_of({"sh", "-c", "kill -9 $$"}, 10s).error().what == "sh ended with signal 9: ");
    CHECK(sys::output_of({"no-such-program"}, 10s).error().kind == ErrorKind::missing);
}

TEST_CASE("a program that does not end is killed with what it started, also when it has closed its output") {
    const test::TempDirectory folder;
    const auto pids = folder / "pids";
    for (const std::string& script : {"sleep 60 & echo $$ $! > " + pids + "; sleep 60",
                                      "exec >&- 2>&-; sleep 60 & echo $$ $! > " + pids + "; wait"}) {
        const auto start = sys::Clock::now();
        const auto hung = sys::output_of({"sh", "-c", script}, 300ms);
        REQUIRE_FALSE(hung);
        CHECK(hung.error().kind == ErrorKind::retry);
        CHECK(hung.error().what == "sh did not end within 300 ms and was killed");
        CHECK(sys::Clock::now() - start < 10s);
        pid_t shell = 0, sleeper = 0;
        std::istringstream(test::text_in(pids)) >> shell >> sleeper;
        REQUIRE(sleeper > 0);
        CHECK(test::soon([&] { return !test::alive(shell) && !test::alive(sleeper); }));
    }
}

TEST_CASE("a script that is tied to this process: what it prints, how it ends, and its time") {
    CHECK(sys::output_of_script("echo \"a b\" | cat; read -r nothing; echo $nothing end", 10s).value() == "a b\nend\n");
    CHECK(sys::output_of_script("echo why; exit 3", 10s).error().what == "/bin/sh ended with exit code 3: why");
    CHECK(sys::output_of_script("sleep 60", 200ms).error().kind == ErrorKind::retry);
}

TEST_CASE("more than 64 KiB are read and dropped") {
    const auto text = sys::output_of({"sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x"}, 10s).value();
    CHECK(text.size() == 65'536);
    CHECK(text.find_first_not_of('x') == std::string::npos);
}
