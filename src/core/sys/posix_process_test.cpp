// Goal: a daemon starts ready or with a reason, inherits only the intended things, and outlives its spawner.
// Method: this executable is also the daemon: its first argument is the role.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/process.hpp"
#include "core/sys/store.hpp"
#include "support/processes.hpp"
#include "support/soon.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;
using namespace std::chrono_literals;
using test::alive;
using test::soon;
using test::text_in;

namespace {

Spawn self(const test::TempDirectory& dir, std::vector<std::string> arguments) {
    Spawn spawn;
    spawn.program = std::filesystem::read_symlink("/proc/self/exe").string();
    spawn.arguments = std::move(arguments);
    spawn.log_path = dir / "log";
    return spawn;
}

// The roles of the daemon. Each gets a directory.

int serve(const std::string& dir) {
    auto start = DaemonStart::fork_away();
    if (!start) return 2;
    const auto lock = FileLock::take(dir + "/lock");
    if (!lock) return 3;
    std::ofstream(dir + "/pid") << process_id() << " " << ::getsid(0) << std::endl;
    start->ready();
    start->ready();  // a second call does nothing
    for (int i = 0; i < 4000 && !std::filesystem::exists(dir + "/stop"); ++i) std::this_thread::sleep_for(5ms);
    return 0;
}

int tell(const std::string& dir) {
    std::ofstream out(dir + "/told");
    std::vector<std::string> open;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
        if (!gone && target.find("/fd") == std::string::npos && target.find("told") == std::string::npos)
            open.push_back(entry.path().filename().string() + "=" + target);
    }
    std::sort(open.begin(), open.end());
    for (const auto& line : open) out << line << "\n";
    for (const char* name : {"FB_KEPT", "FB_CHANGED", "FB_NEW", "FB_REMOVED"}) {
        const char* value = std::getenv(name);
        out << name << "=" << (value != nullptr ? value : "(none)") << "\n";
    }
    sigset_t blocked;
    ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
    out << "blocked=" << sigismember(&blocked, SIGTERM) << "\n";
    out << "ignored=" << (std::signal(SIGUSR1, SIG_DFL) == SIG_IGN) << "\n";
    out << "own session=" << (::getsid(0) == ::getpid()) << "\n";
    std::puts("a line for the log");
    return 0;
}

int play(const std::string& part, const std::string& dir) {
    if (part == "serve") return serve(dir);
    if (part == "tell") return tell(dir);
    if (part == "refuse") {
        std::fputs("no such stream: \"restrat\"\n", stderr);
        return 3;
    }
    if (part == "die") std::abort();
    if (part == "hang" || part == "hang-forked") {
        auto start = part == "hang" ? Result<DaemonStart>(Error{}) : DaemonStart::fork_away();
        std::ofstream(dir + "/pid") << ::getpid() << std::endl;
        std::this_thread::sleep_for(60s);
        return 0;
    }
    if (part == "end-early") {
        auto start = DaemonStart::fork_away();
        return 0;  // without ready()
    }
    return 99;
}

}  // namespace

TEST_CASE("spawn_daemon: ready, in a session of its own, nobody's child, with its lock held") {
    const test::TempDirectory dir;
    REQUIRE(spawn_daemon(self(dir, {"serve", dir.path()}), 20s));
    CHECK(lock_is_held(dir / "lock"));
    pid_t process = 0, session = 0;
    std::ifstream(dir / "pid") >> process >> session;
    CHECK(process > 0);
    CHECK(session != ::getsid(0));
    CHECK(::waitpid(process, nullptr, WNOHANG) == -1);
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no zombie is left
    std::ofstream(dir / "stop").close();
    CHECK(soon([&] { return !lock_is_held(dir / "lock"); }));
}

TEST_CASE("spawn_daemon: the daemon outlives its spawner's process group, killed with SIGKILL") {
    const test::TempDirectory dir;
    const pid_t spawner = ::fork();
    if (spawner == 0) {
        ::setpgid(0, 0);
        if (!spawn_daemon(self(dir, {"serve", dir.path()}), 20s)) ::_exit(1);
        std::ofstream(dir / "spawned").close();
        ::pause();
    }
    REQUIRE(soon([&] { return std::filesystem::exists(dir / "spawned"); }));
    REQUIRE(::kill(-spawner, SIGKILL) == 0);
    int status = 0;
    REQUIRE(::waitpid(spawner, &status, 0) == spawner);
    CHECK(WIFSIGNALED(status));
    std::this_thread::sleep_for(50ms);
    CHECK(lock_is_held(dir / "lock"));
    std::ofstream(dir / "stop").close();
    CHECK(soon([&] { return !lock_is_held(dir / "lock"); }));
}

TEST_CASE("spawn_daemon: descriptors, environment, signals and log are as asked for") {
    const test::TempDirectory dir;
    ::setenv("FB_KEPT", "kept", 1);
    ::setenv("FB_CHANGED", "before", 1);
    ::setenv("FB_REMOVED", "here", 1);
    const int leak = ::open("/dev/zero", O_RDONLY);  // without close-on-exec, as in many codes
    REQUIRE(leak > 2);
    sigset_t blocked, before;
    sigfillset(&blocked);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    std::signal(SIGUSR1, SIG_IGN);
    auto spawn = self(dir, {"tell", dir.path()});
    spawn.environment = {{"FB_CHANGED", "after"}, {"FB_NEW", "new=1"}};
    spawn.environment_removed = {"FB_REMOVED"};
    { std::ofstream(dir / "log") << "from before\n"; }
    std::filesystem::permissions(dir / "log", std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const auto spawned = spawn_daemon(spawn, 20s);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    std::signal(SIGUSR1, SIG_DFL);
    ::close(leak);
    REQUIRE(spawned);
    CHECK(text_in(dir / "told") == "0=/dev/null\n1=" + (dir / "log") + "\n2=" + (dir / "log") +
                                       "\nFB_KEPT=kept\nFB_CHANGED=after\nFB_NEW=new=1\nFB_REMOVED=(none)\n"
                                       "blocked=0\nignored=0\nown session=1\n");
    CHECK(text_in(dir / "log") == "from before\na line for the log\n");
}

TEST_CASE("spawn_daemon: a name without a slash is searched in PATH") {
    const test::TempDirectory dir;
    auto spawn = self(dir, {"refuse", dir.path()});
    std::filesystem::create_symlink(spawn.program, dir / "a-name-in-path");
    spawn.program = "a-name-in-path";
    CHECK(spawn_daemon(spawn, 20s).error().kind == ErrorKind::missing);
    const std::string before = std::getenv("PATH");
    ::setenv("PATH", (dir.path() + ":" + before).c_str(), 1);
    const auto spawned = spawn_daemon(spawn, 20s);
    ::setenv("PATH", before.c_str(), 1);
    CHECK(spawned.error().kind == ErrorKind::broken);  // it was started
}

TEST_CASE("spawn_daemon: what ends before it is ready is broken, with its exit code and its last words") {
    const test::TempDirectory dir;
    const auto refused = spawn_daemon(self(dir, {"refuse", dir.path()}), 20s);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::broken);
    CHECK_MESSAGE(refused.error().text().find("ended with exit code 3") != std::string::npos, refused.error().text());
    CHECK_MESSAGE(refused.error().text().find(": no such stream: \"restrat\"") != std::string::npos,
                  refused.error().text());
    CHECK(refused.error().text().find(dir / "log") != std::string::npos);
    const auto died = spawn_daemon(self(dir, {"die", dir.path()}), 20s);
    REQUIRE_FALSE(died);
    CHECK_MESSAGE(died.error().text().find("ended by signal 6") != std::string::npos, died.error().text());
    CHECK(died.error().text().find("restrat") == std::string::npos);  // only its own words
    const auto early = spawn_daemon(self(dir, {"end-early", dir.path()}), 20s);
    REQUIRE_FALSE(early);
    CHECK_MESSAGE(early.error().text().find("ended with exit code 1") != std::string::npos, early.error().text());
}

TEST_CASE("spawn_daemon: what is not ready in time is killed with all it forked") {
    for (const char* part : {"hang", "hang-forked"}) {
        CAPTURE(part);
        const test::TempDirectory dir;
        const auto begin = Clock::now();
        const auto late = spawn_daemon(self(dir, {part, dir.path()}), 500ms);
        REQUIRE_FALSE(late);
        CHECK(late.error().kind == ErrorKind::retry);
        CHECK_MESSAGE(late.error().text().find("not ready within 500 ms") != std::string::npos, late.error().text());
        CHECK(Clock::now() - begin < 20s);
        pid_t process = 0;
        std::ifstream(dir / "pid") >> process;
        REQUIRE(process > 0);
        CHECK(soon([&] { return !alive(process); }));
    }
}

TEST_CASE("spawn_daemon: a program or log that cannot be opened") {
    const test::TempDirectory dir;
    auto spawn = self(dir, {});
    spawn.program = dir / "none";
    const auto missing = spawn_daemon(spawn, 1s);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().kind == ErrorKind::missing);
    CHECK(missing.error().text().find(spawn.program) != std::string::npos);
    spawn = self(dir, {"tell", dir.path()});
    spawn.log_path = dir / "no/log";
    CHECK(spawn_daemon(spawn, 1s).error().kind == ErrorKind::missing);
    std::filesystem::create_symlink("elsewhere", dir / "link");
    spawn.log_path = dir / "link";
    CHECK(spawn_daemon(spawn, 1s).error().kind == ErrorKind::refused);
}

TEST_CASE("spawn_daemon: where the exit code is taken, it is looked whether the daemon is ready") {
    const auto ignore = [] { std::signal(SIGCHLD, SIG_IGN); };
    const auto collect = [] {
        std::signal(SIGCHLD, [](int) {
            const int before = errno;
            while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
            errno = before;
        });
    };
    for (const std::function<void()>& take : std::vector<std::function<void()>>{ignore, collect}) {
        const test::TempDirectory dir;
        take();
        auto spawn = self(dir, {"serve", dir.path()});
        spawn.is_ready = [&] { return lock_is_held(dir / "lock"); };
        const auto ready = spawn_daemon(spawn, 20s);
        const bool is_held = lock_is_held(dir / "lock");
        const auto refused = spawn_daemon(self(dir, {"refuse", dir.path()}), 20s);
        spawn.arguments[0] = "refuse";
        spawn.is_ready = [] { return false; };
        const auto looked = spawn_daemon(spawn, 20s);
        std::signal(SIGCHLD, SIG_DFL);
        { std::ofstream(dir / "stop"); }
        CHECK(ready);
        CHECK(is_held);
        for (const auto& unknown : {refused, looked}) {
            REQUIRE_FALSE(unknown);
            CHECK(unknown.error().kind == ErrorKind::retry);
            CHECK(unknown.error().text().find("SIGCHLD") != std::string::npos);
            CHECK(unknown.error().text().find("no such stream") != std::string::npos);
        }
        CHECK(soon([&] { return !lock_is_held(dir / "lock"); }));
    }
}

int main(int argc, char** argv) {
    if (argc == 3 && argv[1][0] != '-') return play(argv[1], argv[2]);
    doctest::Context context(argc, argv);
    return context.run();
}
