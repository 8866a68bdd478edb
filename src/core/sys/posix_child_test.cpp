// Goal: a child answers in lines. Whatever happens to it is an error of the next call and ends no other process.
//       Nothing of it is left when its owner goes.
// Method: shells as children, and this executable as an owner that is killed.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "core/sys/child.hpp"
#include "core/sys/program.hpp"
#include "support/processes.hpp"
#include "support/soon.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using sys::ChildProgram;

namespace {

sys::Spawn shell(const test::TempDirectory& folder, const std::string& script) {
    return {.program = "sh", .arguments = {"-c", script}, .log_path = folder / "log"};
}

std::string line_of(ChildProgram& child) { return child.read_line(60s).value().value_or("(nothing)"); }

bool nobody_is_left() { return ::waitpid(-1, nullptr, WNOHANG) == -1; }

/// The roles of this executable: one starts the other, and both wait for their end.
int play(const std::string& part, const std::string& folder) {
    if (part == "loyal") {
        if (!sys::end_with_parent()) return 1;
        std::ofstream(folder + "/loyal") << ::getpid() << std::endl;
    } else {
        const auto loyal = ChildProgram::start(
            {.program = sys::program_path(), .arguments = {"loyal", folder}, .log_path = folder + "/log"});
        if (!loyal) return 1;
        std::this_thread::sleep_for(60s);
    }
    // Its input ends too, but it ignores that.
    std::this_thread::sleep_for(60s);
    return 0;
}

}  // namespace

TEST_CASE("lines go both ways; errors go to the log, and a blank line is one") {
    const test::TempDirectory folder;
    auto spawn = shell(folder, "echo begun >&2; while read one two; do echo \"$two $one $FB_SAID\"; echo; done");
    spawn.environment = {{"FB_SAID", "it"}};
    auto child = ChildProgram::start(spawn).value();
    for (int i = 0; i < 3; ++i) {
        child.write_line("a b").value();
        CHECK(line_of(child) == "b a it");
        CHECK(line_of(child) == "");
    }
    CHECK_FALSE(child.read_line(1ms).value());
    CHECK(test::text_in(folder / "log") == "begun\n");
    CHECK(child.write_line("two\nlines").error().kind == ErrorKind::refused);
    CHECK(child.write_line(std::string(sys::child_line_bytes_max, 'x')).error().kind == ErrorKind::refused);
}

TEST_CASE("a child that is let end comes to its own end, and one that does not is killed with its owner") {
    const test::TempDirectory folder;
    for (const bool ends : {true, false}) {
        CAPTURE(ends);
        const auto last = std::string(ends ? "; echo over >" : "; sleep 100; echo over >") + (folder / "last");
        std::filesystem::remove(folder / "last");
        auto child = ChildProgram::start(shell(folder, "echo ready; cat" + last)).value();
        CHECK(line_of(child) == "ready");
        const auto process = child.process();
        child.let_end(ends ? 60s : 10ms);
        CHECK(std::filesystem::exists(folder / "last") == ends);
        CHECK(test::alive(static_cast<pid_t>(process)) != ends);
        { const auto gone = std::move(child); }
        CHECK_FALSE(test::alive(static_cast<pid_t>(process)));
    }
}

TEST_CASE("a child has a session of its own, and no descriptor but its own three") {
    const test::TempDirectory folder;
    const int inherited = ::dup(0);
    auto child = ChildProgram::start(shell(folder, "cut -d' ' -f6 /proc/$$/stat; echo $$; read x")).value();
    ::close(inherited);
    const auto session = line_of(child);
    CHECK(session == line_of(child));
    CHECK(session == std::to_string(child.process()));
    // Looked at from outside: a shell that lists its descriptors has more for a moment.
    std::set<std::string> descriptors;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + session + "/fd"))
        descriptors.insert(entry.path().filename());
    CHECK(descriptors == std::set<std::string>{"0", "1", "2"});
}

TEST_CASE(
    "a line that is not whole is not given; one that is too long is refused; what is whole before the end is given") {
    const test::TempDirectory folder;
    auto halves = ChildProgram::start(shell(folder, "printf half; read x; echo way")).value();
    CHECK_FALSE(halves.read_line(300ms).value());
    halves.write_line("on").value();
    CHECK(line_of(halves) == "halfway");
    auto large = ChildProgram::start(shell(folder, "head -c 100000 /dev/zero | tr '\\0' x; read x")).value();
    CHECK(large.read_line(60s).error().kind == ErrorKind::corrupt);
    auto last = ChildProgram::start(shell(folder, "echo one; printf two")).value();
    CHECK(line_of(last) == "one");
    CHECK(last.read_line(60s).error().kind == ErrorKind::broken);
}

TEST_CASE("what has ended says how, again and again, and a write to it is an error") {
    const test::TempDirectory folder;
    auto left = ChildProgram::start(shell(folder, "exit 3")).value();
    CHECK(left.read_line(60s).error().what == "sh ended with exit code 3");
    CHECK(left.read_line(60s).error().what == "sh has ended");
    CHECK(left.write_line("more").error().kind == ErrorKind::broken);
    auto killed = ChildProgram::start(shell(folder, "kill -9 $$")).value();
    CHECK(test::soon([&] { return !killed.write_line("more"); }));
    CHECK(killed.read_line(60s).error().kind == ErrorKind::broken);
    auto silent = ChildProgram::start(shell(folder, "exec >&- <&-; sleep 60")).value();
    CHECK(silent.read_line(60s).error().what == "sh has closed its output");
    CHECK(ChildProgram::start({.program = "no-such-program", .log_path = folder / "log"}).error().kind ==
          ErrorKind::missing);
    CHECK(ChildProgram::start({.program = folder / "none", .log_path = folder / "log"}).error().kind ==
          ErrorKind::missing);
}

TEST_CASE("without a log its errors come among its lines") {
    auto child =
        ChildProgram::start({.program = "sh", .arguments = {"-c", "echo one; echo two >&2; echo three"}}).value();
    for (const auto* const line : {"one", "two", "three"}) CHECK(child.read_line(60s).value() == line);
    CHECK(child.read_line(60s).error().kind == ErrorKind::broken);
}

TEST_CASE("a child that does not read is not waited for") {
    const test::TempDirectory folder;
    auto deaf = ChildProgram::start(shell(folder, "sleep 60")).value();
    const std::string line(4000, 'x');
    Result<> written;
    for (int i = 0; i < 10'000 && written; ++i) written = deaf.write_line(line);
    REQUIRE_FALSE(written);
    CHECK(written.error().kind == ErrorKind::retry);
}

TEST_CASE("its owner's end is its own, and that of what it has started; a moved owner ends it once") {
    const test::TempDirectory folder;
    pid_t first = 0, sleeper = 0, second = 0;
    {
        const std::string script = "sleep 60 & echo $!; trap '' TERM HUP; wait; sleep 60";
        auto child = ChildProgram::start(shell(folder, script)).value();
        first = static_cast<pid_t>(child.process());
        sleeper = std::stoi(line_of(child));
        auto other = ChildProgram::start(shell(folder, script)).value();
        second = static_cast<pid_t>(other.process());
        child = std::move(other);
        CHECK(test::soon([&] { return !test::alive(first) && !test::alive(sleeper); }));
        CHECK(test::alive(second));
        CHECK(std::stoi(line_of(child)) > 0);
    }
    CHECK_FALSE(test::alive(second));
    CHECK(nobody_is_left());
}

TEST_CASE("what a child that has ended has left running ends when that is heard") {
    const test::TempDirectory folder;
    auto child = ChildProgram::start(shell(folder, "sleep 60 >/dev/null & echo $!; exit 0")).value();
    const auto sleeper = std::stoi(line_of(child));
    CHECK(child.read_line(60s).error().kind == ErrorKind::broken);
    CHECK(test::soon([&] { return !test::alive(sleeper); }));
}

TEST_CASE("a forked copy of the owner does not end it") {
    const test::TempDirectory folder;
    auto child = ChildProgram::start(shell(folder, "read x; echo \"$x\"; read x")).value();
    const pid_t copy = ::fork();
    if (copy == 0) {
        { const auto gone = std::move(child); }
        ::_exit(0);
    }
    REQUIRE(::waitpid(copy, nullptr, 0) == copy);
    child.write_line("lives").value();
    CHECK(line_of(child) == "lives");
}

TEST_CASE("an owner that is killed takes it along, at work or waiting") {
    const test::TempDirectory folder;
    const auto loyal = [&] {
        pid_t process = 0;
        std::istringstream(test::text_in(folder / "loyal")) >> process;
        return process;
    };
    auto owner =
        ChildProgram::start(
            {.program = sys::program_path(), .arguments = {"owner", folder.path()}, .log_path = folder / "log"})
            .value();
    REQUIRE(test::soon([&] { return loyal() > 0; }));
    const auto process = loyal();
    ::kill(static_cast<pid_t>(owner.process()), SIGKILL);  // only the process itself
    CHECK(test::soon([&] { return !test::alive(process); }));
}

int main(int count, char** arguments) {
    if (count == 3 && (std::string(arguments[1]) == "loyal" || std::string(arguments[1]) == "owner"))
        return play(arguments[1], arguments[2]);
    return doctest::Context(count, arguments).run();
}
