// Goal: a crew does every piece once, for any size and however late its helpers wake. Between two jobs helpers sleep.
//       They stay on their CPUs, take no signals, and are fewer if the machine gives no more.
// Method: a counter for each piece; the kernel's account of CPU time; a separate process with a limit of threads, or
//         with an OpenMP that binds its first thread.

#include "core/sys/crew.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "support/limited_process.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

double cpu_seconds() {
    struct rusage used {};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Blocks its threads until the given number of them is in it at once.
class Meeting {
public:
    explicit Meeting(int threads) : threads_(threads) {}
    void wait() {
        ++here_;
        while (here_.load() < threads_) std::this_thread::yield();
    }

private:
    int threads_;
    std::atomic<int> here_{0};
};

}  // namespace

TEST_CASE("every piece is done once: 1 to 5 threads, any number of pieces, thousands of times") {
    for (std::uint32_t threads = 1; threads <= 5; ++threads) {
        sys::Crew crew(threads, sys::own_cpus());
        REQUIRE(crew.shortage());
        CHECK(crew.threads() == threads);
        bool once = true;
        for (int round = 0; round < 1500; ++round) {
            // On the stack of this round: a helper of the previous round would write here.
            std::atomic<std::uint32_t> done[7] = {};
            const auto count = static_cast<std::uint64_t>(round % 8);
            crew.each(count, threads, [&](std::uint64_t i) { ++done[i]; });
            for (std::uint64_t i = 0; i < 7; ++i) once = once && done[i] == (i < count ? 1 : 0);
        }
        CHECK(once);
    }
}

TEST_CASE("all threads work at once, and no more than are asked for") {
    sys::Crew crew(4, sys::own_cpus());
    Meeting meeting(4);
    crew.each(4, 4, [&](std::uint64_t) { meeting.wait(); });
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> now{0}, most{0};
        crew.each(40, 2, [&](std::uint64_t) {
            const int here = ++now;
            for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
            }
            std::this_thread::yield();
            --now;
        });
        REQUIRE(most <= 2);
    }
}

TEST_CASE("helpers sleep until there is work") {
    sys::Crew crew(4, sys::own_cpus());
    crew.each(100, 4, [](std::uint64_t) {});
    const auto before = cpu_seconds();
    std::this_thread::sleep_for(500ms);
    CHECK(cpu_seconds() - before < 0.1);  // a helper that spun would have used half a second
}

TEST_CASE("helpers run on one of the CPUs they are given, take no signals, and the caller keeps what it had") {
    const auto all = sys::own_cpus();
    sys::Crew crew(3, all);
    REQUIRE(crew.shortage());
    CHECK(sys::own_cpus() == all);
    Meeting meeting(3);
    const auto caller = std::this_thread::get_id();
    std::mutex mutex;
    std::set<std::thread::id> seen;
    int wrong = 0;
    crew.each(3, 3, [&](std::uint64_t) {
        meeting.wait();
        sigset_t held;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &held);
        const auto own = sys::own_cpus();
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
        if (std::this_thread::get_id() == caller) return;
        if (own.count() != 1 || (own & ~all).any() || ::sigismember(&held, SIGUSR1) != 1) ++wrong;
    });
    CHECK(seen.size() == 3);
    CHECK(wrong == 0);
}

TEST_CASE("the helper on the caller's CPU is left asleep while others are there") {
    const auto all = sys::own_cpus();
    std::vector<unsigned> list;
    for (unsigned cpu = 0; cpu < sys::cpus_max; ++cpu)
        if (all[cpu]) list.push_back(cpu);
    if (list.size() < 2) return;
    sys::Crew crew(static_cast<std::uint32_t>(list.size()), all);
    REQUIRE(crew.threads() == list.size());
    cpu_set_t before, single;
    REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
    for (const auto here : list) {
        CPU_ZERO(&single);
        CPU_SET(here, &single);
        REQUIRE(::sched_setaffinity(0, sizeof single, &single) == 0);
        Meeting meeting(static_cast<int>(list.size()));
        std::mutex mutex;
        std::set<int> seen;
        crew.each(list.size(), crew.threads(), [&](std::uint64_t) {
            meeting.wait();
            const std::lock_guard lock(mutex);
            seen.insert(sys::current_cpu());
        });
        CHECK(seen.size() == list.size());
    }
    REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("a crew that can have no helpers does the work alone and says why") {
    for (const bool none : {false, true}) {
        sys::CpuSet nowhere;
        if (!none) nowhere.set(sys::cpus_max - 1);
        sys::Crew crew(3, nowhere);
        CHECK(crew.threads() == 1);
        REQUIRE_FALSE(crew.shortage());
        CHECK(crew.shortage().error().what.find(none ? "there is no CPU" : "to CPUs 8191") != std::string::npos);
        int done = 0;
        crew.each(5, 3, [&](std::uint64_t) { ++done; });
        CHECK(done == 5);
    }
}

#ifndef __SANITIZE_THREAD__
TEST_CASE("where this user may have few threads half of those that start stay, and the work is done") {
    const auto limited = [] {
        if (!test::become_limited_user()) return 98;
        if (!test::limit_to(RLIMIT_NPROC, 5)) return 97;
        sys::Crew crew(8, sys::own_cpus());
        if (crew.threads() > 3 || crew.shortage()) return 1;  // half of four helpers stay
        if (crew.shortage().error().what.find("ulimit -u") == std::string::npos) return 2;
        std::atomic<int> done{0};
        crew.each(50, 8, [&](std::uint64_t) { ++done; });
        return done == 50 ? 0 : 3;
    };
    CHECK(test::in_child(limited) == 0);
}
#endif

TEST_CASE("one_of_each_core: the first of the hardware threads that are there; all where nobody tells") {
    const test::TempDirectory root;
    const auto tell = [&](unsigned cpu, const std::string& siblings) {
        const auto folder = root / fmt::format("cpu{}/topology", cpu);
        std::filesystem::create_directories(folder);
        std::ofstream(folder + "/thread_siblings_list") << siblings << "\n";
    };
    const auto cores_of = [&](std::initializer_list<unsigned> list) {
        sys::CpuSet cpus;
        for (const auto cpu : list) cpus.set(cpu);
        return sys::show_cpus(sys::one_of_each_core(cpus, root.path()));
    };
    for (unsigned cpu = 0; cpu < 4; ++cpu)
        for (const auto thread : {cpu, cpu + 64}) tell(thread, fmt::format("{},{}", cpu, cpu + 64));
    for (const unsigned cpu : {8u, 9u}) tell(cpu, "8-9");
    CHECK(cores_of({0, 1, 2, 3, 64, 65, 66, 67}) == "0-3");
    CHECK(cores_of({1, 64, 65, 67}) == "1,64,67");
    CHECK(cores_of({8, 9, 10, 11}) == "8,10-11");
    tell(10, "not a list");
    CHECK(cores_of({10, 11}) == "10-11");
}

TEST_CASE("own_cpus() are those of OpenMP too, whose runtime binds the first thread to one of them") {
    if (::dlsym(RTLD_DEFAULT, "omp_get_num_places") == nullptr) {
        MESSAGE("left out: this build is linked with no OpenMP");
        return;
    }
    if (const char* all = std::getenv("FOREBAY_TEST_CPUS"); all != nullptr) {  // in the process that is started below
        cpu_set_t set;
        REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
        CHECK(CPU_COUNT(&set) == 1);
        CHECK(sys::show_cpus(sys::own_cpus()) == all);
        return;
    }
    const auto bound = [] {
        ::setenv("OMP_PROC_BIND", "close", 1);
        ::setenv("OMP_PLACES", "threads", 1);
        ::setenv("FOREBAY_TEST_CPUS", sys::show_cpus(sys::own_cpus()).c_str(), 1);
        ::execl("/proc/self/exe", "crew_test", "-tc=own_cpus() are those of OpenMP*", nullptr);
        return 96;
    };
    CHECK(test::in_child(bound) == 0);
}

TEST_CASE("own_cpus() are what the kernel says; show_cpus() as lists are written") {
    cpu_set_t set;
    REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
    const auto own = sys::own_cpus();
    CHECK(own.count() == static_cast<std::size_t>(CPU_COUNT(&set)));
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) CHECK(own[cpu] == (CPU_ISSET(cpu, &set) != 0));
    CHECK((sys::one_of_each_core(own) & ~own).none());
    sys::CpuSet some;
    CHECK(sys::show_cpus(some).empty());
    for (const unsigned cpu : {0u, 1u, 2u, 5u, 8190u, 8191u}) some.set(cpu);
    CHECK(sys::show_cpus(some) == "0-2,5,8190-8191");
}
