// Goal: waits work between processes, locks end with their holder, private directories are private, pins pin.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <new>
#include <set>
#include <thread>

#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/process.hpp"
#include "support/soon.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;
using namespace std::chrono_literals;
using test::soon;

namespace {

/// Runs `body` in a child; its result is the child's exit code.
template <class Body>
pid_t in_child(Body body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    REQUIRE(child > 0);
    return child;
}

int exit_code_of(pid_t child) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::atomic<std::uint32_t>& word_in(Mapping& mapping) {
    return *new (mapping.bytes().data()) std::atomic<std::uint32_t>(0);
}

void check_refused(const std::string& path, const char* reason) {
    const auto directory = make_private_directory(path);
    REQUIRE_FALSE(directory);
    CHECK(directory.error().kind == ErrorKind::refused);
    CHECK_MESSAGE(directory.error().text().find(reason) != std::string::npos, directory.error().text());
}

}  // namespace

TEST_CASE("wait_on: woken from another process, through another mapping of the file") {
    const test::TempDirectory dir("/dev/shm");
    auto mapping = Mapping::create(dir / "m", 4096).value();
    auto& word = word_in(mapping);
    const std::string path = dir / "m";
    const pid_t child = in_child([&] {
        auto own = Mapping::open(path, true);
        if (!own) return 2;
        auto& seen = *reinterpret_cast<std::atomic<std::uint32_t>*>(own->bytes().data());
        seen.store(1);
        const auto begin = Clock::now();
        while (seen.load() != 2) {
            if (Clock::now() - begin > 20s) return 1;
            wait_on(seen, 1, 20s);
        }
        return Clock::now() - begin < 10s ? 0 : 1;  // woken, not timed out
    });
    REQUIRE(soon([&] { return word.load() == 1; }));
    std::this_thread::sleep_for(100ms);  // it waits by now
    word.store(2);
    wake_all(word);
    CHECK(exit_code_of(child) == 0);
}

TEST_CASE("wait_on: ends at once when the word differs, and at its timeout") {
    const test::TempDirectory dir("/dev/shm");
    auto mapping = Mapping::create(dir / "m", 4096).value();
    auto& word = word_in(mapping);
    auto begin = Clock::now();
    wait_on(word, 1, 30s);
    wait_on(word, 0, 0s);
    wait_on(word, 0, -5s);
    CHECK(Clock::now() - begin < 10s);
    begin = Clock::now();
    while (Clock::now() - begin < 50ms) wait_on(word, 0, 50ms);
    CHECK(Clock::now() - begin < 10s);
    std::jthread waker([&] {
        std::this_thread::sleep_for(50ms);
        word.store(1);
        wake_all(word);
    });
    begin = Clock::now();
    while (word.load() == 0) wait_on(word, 0, std::chrono::nanoseconds::max());
    CHECK(Clock::now() - begin < 10s);
}

TEST_CASE("FileLock: one holder, released by release(), by the destructor, and by SIGKILL") {
    const test::TempDirectory dir;
    const std::string path = dir / "lock";
    CHECK_FALSE(lock_is_held(path));
    auto lock = FileLock::take(path);
    REQUIRE(lock);
    CHECK(lock->held());
    CHECK(lock_is_held(path));
    CHECK(FileLock::take(path).error().kind == ErrorKind::retry);
    lock->release();
    CHECK_FALSE(lock->held());
    CHECK_FALSE(lock_is_held(path));
    { const auto again = FileLock::take(path).value(); }
    CHECK_FALSE(lock_is_held(path));

    const pid_t child = in_child([&] {
        const auto held = FileLock::take(path);
        ::pause();
        return held ? 0 : 1;
    });
    CHECK(soon([&] { return lock_is_held(path); }));
    CHECK(FileLock::take(path).error().kind == ErrorKind::retry);
    ::kill(child, SIGKILL);
    CHECK(exit_code_of(child) == 128 + SIGKILL);
    CHECK_FALSE(lock_is_held(path));
    CHECK(FileLock::take(path));
}

TEST_CASE("FileLock: a forked child neither unlocks its parent's nor keeps a released one") {
    const test::TempDirectory dir;
    auto lock = FileLock::take(dir / "lock").value();
    CHECK(exit_code_of(in_child([&] {
              lock.release();
              return 0;
          })) == 0);
    CHECK(lock_is_held(dir / "lock"));
    const pid_t child = in_child([] { return ::pause(); });
    lock.release();
    CHECK_FALSE(lock_is_held(dir / "lock"));
    ::kill(child, SIGKILL);
    (void)exit_code_of(child);
}

TEST_CASE("FileLock: moves, and a removed file's lock is no lock") {
    const test::TempDirectory dir;
    auto first = FileLock::take(dir / "a").value();
    auto second = FileLock::take(dir / "b").value();
    first = std::move(second);
    CHECK_FALSE(lock_is_held(dir / "a"));
    CHECK(lock_is_held(dir / "b"));
    std::filesystem::remove(dir / "b");
    CHECK_FALSE(lock_is_held(dir / "b"));
    CHECK(FileLock::take(dir / "b"));
    std::filesystem::create_symlink(dir / "a", dir / "link");
    CHECK(FileLock::take(dir / "link").error().kind == ErrorKind::refused);
    CHECK(lock_is_held(dir / "link"));  // a link cannot be examined, so it counts as held
}

TEST_CASE("lock_is_held: a look never makes take() fail") {
    const test::TempDirectory dir;
    const std::string path = dir / "lock";
    { const auto lock = FileLock::take(path).value(); }
    std::atomic<bool> stop = false;
    std::atomic<int> looks = 0;
    std::jthread looker([&] {
        for (; !stop; ++looks) (void)lock_is_held(path);
    });
    int refused = 0;
    while (looks < 5000) refused += FileLock::take(path) ? 0 : 1;
    stop = true;
    CHECK(refused == 0);
}

TEST_CASE("make_private_directory: new or ours alone, else refused with the reason") {
    const test::TempDirectory dir;
    const mode_t before = ::umask(0);
    CHECK(make_private_directory(dir / "d"));
    ::umask(before);
    struct stat about {};
    REQUIRE(::stat((dir / "d").c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0700);
    CHECK(make_private_directory(dir / "d"));
    CHECK(make_private_directory(dir / "no/d").error().kind == ErrorKind::missing);
    std::filesystem::create_directory_symlink(dir / "d", dir / "link");
    check_refused(dir / "link", "symbolic link");
    REQUIRE(::chmod((dir / "d").c_str(), 0750) == 0);
    check_refused(dir / "d", "0750 gives other users access");
    { const auto lock = FileLock::take(dir / "file").value(); }
    check_refused(dir / "file", "not a directory");
    if (::geteuid() == 0) {
        CHECK(make_private_directory(dir / "theirs"));
        REQUIRE(::chown((dir / "theirs").c_str(), 65534, 65534) == 0);
        check_refused(dir / "theirs", "belongs to user 65534");
    } else {
        MESSAGE("not tested: a directory of another user, which only root can make");
    }
}

TEST_CASE("pin_to_cpus: every thread of the process; \"all\" takes the pin away") {
    cpu_set_t allowed;
    REQUIRE(::sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    int first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    std::atomic<int> phase = 0;
    std::atomic<int> seen = -1;
    std::jthread other([&] {
        while (phase == 0) std::this_thread::sleep_for(1ms);
        cpu_set_t own_cpus;
        seen = ::sched_getaffinity(0, sizeof own_cpus, &own_cpus) == 0 ? CPU_COUNT(&own_cpus) : -2;
    });
    CHECK(pin_to_cpus(""));
    CHECK(pin_to_cpus(std::to_string(first)));
    phase = 1;
    other.join();
    CHECK(seen == 1);
    CHECK(cpus_allowed() == 1);
    cpu_set_t own_cpus;
    REQUIRE(::sched_getaffinity(0, sizeof own_cpus, &own_cpus) == 0);
    CHECK(CPU_COUNT(&own_cpus) == 1);
    CHECK(CPU_ISSET(first, &own_cpus));
    CHECK(pin_to_cpus("all"));
    REQUIRE(::sched_getaffinity(0, sizeof own_cpus, &own_cpus) == 0);
    CHECK(CPU_COUNT(&own_cpus) >= CPU_COUNT(&allowed));
    CHECK(cpus_allowed() == CPU_COUNT(&own_cpus));
    for (const char* bad : {"x", "1-", "3-1", "0,", ",0", "0-99999", "0 ", "-1", "8191"}) {
        CAPTURE(bad);
        CHECK(pin_to_cpus(bad).error().kind == ErrorKind::refused);
    }
    REQUIRE(::sched_setaffinity(0, sizeof allowed, &allowed) == 0);
}

TEST_CASE("give_way: this thread and those that it starts, no others") {
    const auto policy_of = [](const std::function<void()>& first) {
        int policy = -1;
        std::jthread([&] {
            first();
            std::jthread([&] { policy = ::sched_getscheduler(0); }).join();
        }).join();
        return policy;
    };
    const int before = ::sched_getscheduler(0);
    CHECK(policy_of([] { CHECK(give_way()); }) == SCHED_BATCH);
    CHECK(policy_of([] {}) == before);
    CHECK(policy_of([] {
              const sched_param none{};
              REQUIRE(::sched_setscheduler(0, SCHED_IDLE, &none) == 0);
              CHECK(give_way());
          }) == SCHED_IDLE);
}

TEST_CASE("names, clocks and random numbers") {
    CHECK_FALSE(host_name().empty());
    CHECK_FALSE(user_name().empty());
    CHECK(user_id() == ::geteuid());
    CHECK(process_id() == ::getpid());
    CHECK_FALSE(processor_name().empty());
    CHECK(processor_name().find('\n') == std::string::npos);
    const std::filesystem::path nodes = "/sys/devices/system/node";
    if (std::filesystem::exists(nodes)) CHECK(std::filesystem::exists(nodes / fmt::format("node{}", numa_node())));
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    CHECK(std::abs(unix_ns() - std::chrono::nanoseconds(now).count()) < 1'000'000'000);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) seen.insert(random_u64());
    CHECK(seen.size() == 1000);
    CHECK(*free_bytes("/dev/shm") > 0);
    CHECK(free_bytes("/does/not/exist").error().kind == ErrorKind::missing);
    CHECK(*file_system_kind("/dev/shm") == "tmpfs");
    CHECK(*file_system_kind("/dev/shm/not/yet/there") == "tmpfs");
    CHECK(*file_system_kind("/proc") == "0x00009fa0");
    CHECK(*file_system_kind("not-there") == *file_system_kind("."));
    CHECK(file_system_kind("/dev/null/below").error().kind == ErrorKind::refused);
}

TEST_CASE("own_object_path: an absolute path to what holds this code, wherever we stand") {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path("/");
    const std::string path = own_object_path();
    std::filesystem::current_path(before);
    CHECK(path.front() == '/');
    CHECK(std::filesystem::is_regular_file(path));
    CHECK(path.find("libforebay") != std::string::npos);
}
