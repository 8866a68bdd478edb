// Goal: threads of ours take no signals of the application and pass no exception to it. If there are no more threads,
//       that is an Error.
// Method: a handler counts its threads; a child of a separate user may have only one thread.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <stdexcept>
#include <thread>

#include "core/sys/thread.hpp"
#include "support/limited_process.hpp"

using namespace forebay;
using namespace forebay::sys;

namespace {

std::atomic<pid_t> handled_by = 0;
void handle(int) { handled_by = static_cast<pid_t>(::syscall(SYS_gettid)); }

}  // namespace

TEST_CASE("a thread runs what it was given, and is joined") {
    std::atomic<int> count = 0;
    {
        auto thread = Thread::start([&] { ++count; }).value();
        auto moved = std::move(thread);
        CHECK(moved.runs());
        CHECK_FALSE(thread.runs());  // NOLINT(bugprone-use-after-move)
        moved = Thread::start([&] { ++count; }).value();
    }
    CHECK(count == 2);
    work_together(4, [&] { ++count; });
    CHECK(count == 6);
    for (const std::uint64_t alone : {0, 1}) {
        std::thread::id by;
        work_together(alone, [&] { by = std::this_thread::get_id(); });
        CHECK(by == std::this_thread::get_id());
    }
}

TEST_CASE("CPU time is that of the thread and of those that worked together with it, nested ones too") {
    constexpr std::chrono::milliseconds each{3};
    const auto burn = [&] {
        const auto until = cpu_time() + each;
        while (cpu_time() < until) {
        }
    };
    const auto before = cpu_time();
    std::atomic<int> burned = 0;
    work_together(3, [&] {
        work_together(2, [&] {
            burn();
            ++burned;
        });
    });
    const auto used = cpu_time() - before;
    CHECK(burned == 6);
    CHECK(used >= 6 * each);
    struct timespec process {};
    REQUIRE(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process) == 0);
    CHECK(used <= std::chrono::seconds(process.tv_sec) + std::chrono::nanoseconds(process.tv_nsec));
    Thread::start(burn).value().join();
    CHECK(cpu_time() - before < used + each);  // a separate thread is not this thread's work
}

TEST_CASE("signals are the application's, and its mask stays as it was") {
    sigset_t before, after, inside;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
    Thread::start([&] { ::pthread_sigmask(SIG_SETMASK, nullptr, &inside); }).value().join();
    ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (int number = 1; number < 32; ++number) CHECK(sigismember(&before, number) == sigismember(&after, number));
    for (const int theirs : {SIGTERM, SIGINT, SIGALRM, SIGPROF, SIGUSR1, SIGCHLD, SIGXFSZ, SIGPIPE, SIGRTMIN})
        CHECK(sigismember(&inside, theirs) == 1);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) CHECK(sigismember(&inside, fault) == 0);

    // Sent to the process while only threads of ours could take it: it waits for a thread of the application.
    ::signal(SIGUSR1, handle);
    sigset_t user;
    sigemptyset(&user);
    sigaddset(&user, SIGUSR1);
    ::pthread_sigmask(SIG_BLOCK, &user, nullptr);
    Thread::start([] { ::kill(::getpid(), SIGUSR1); }).value().join();
    CHECK(handled_by == 0);
    ::pthread_sigmask(SIG_UNBLOCK, &user, nullptr);
    CHECK(handled_by == static_cast<pid_t>(::syscall(SYS_gettid)));
    ::signal(SIGUSR1, SIG_DFL);
}

TEST_CASE("what a thread throws ends nobody else") {
    Thread::start([] { throw std::runtime_error("thrown"); }).value().join();
    Thread::start([] { throw 7; }).value().join();
    const auto here = std::this_thread::get_id();
    std::atomic<int> ended = 0;
    const auto throws_elsewhere = [&] {
        ++ended;
        if (std::this_thread::get_id() != here) throw std::bad_alloc();
    };
    CHECK_THROWS_AS(work_together(3, throws_elsewhere), std::bad_alloc);  // its part is not done
    CHECK(ended == 3);
    const auto throws_here = [&] {
        ++ended;
        if (std::this_thread::get_id() == here) throw std::runtime_error("here");
    };
    CHECK_THROWS_AS(work_together(3, throws_here), std::runtime_error);
    CHECK(ended == 6);
}

TEST_CASE("where there are no more threads it is an Error, and helpers are fewer") {
#ifdef __SANITIZE_THREAD__
    MESSAGE("not tested: the thread sanitizer needs a thread of its own");
    return;
#endif
    CHECK(test::in_child([] {
              if (!test::become_limited_user() || !test::limit_to(RLIMIT_NPROC, 0)) return 98;
              const auto started = Thread::start([] {});
              if (started) return 1;
              if (started.error().kind != ErrorKind::retry) return 2;
              if (started.error().text().find("ulimit -u") == std::string::npos) return 3;
              const auto here = std::this_thread::get_id();
              work_together(5, [&] {
                  if (std::this_thread::get_id() != here) ::_exit(4);
              });
              return 0;
          }) == 0);
}

TEST_CASE("a thread was crowded where it had no CPU for a quarter of its CPU time") {
    const Computing slept;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(slept.was_crowded());
    CHECK(slept.lasted() >= std::chrono::milliseconds(20));
    // Beside other work it may take some attempts.
    bool had_its_cpu = false;
    for (int attempt = 0; attempt < 1000 && !had_its_cpu; ++attempt) {
        const Computing computing;
        const auto until = cpu_time() + std::chrono::milliseconds(1);
        while (cpu_time() < until) {
        }
        had_its_cpu = !computing.was_crowded();
    }
    CHECK(had_its_cpu);
}
