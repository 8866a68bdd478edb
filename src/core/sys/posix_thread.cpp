#include <cxxabi.h>
#include <signal.h>
#include <time.h>

#include <exception>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/sys/posix_error.hpp"
#include "core/sys/thread.hpp"

namespace forebay::sys {

namespace {

// Blocks signals in the caller while it starts a thread, because the thread inherits the caller's mask.
class SignalsHeld {
public:
    SignalsHeld() {
        sigset_t held;
        ::sigfillset(&held);
        // A fault of the thread itself cannot wait: if it were blocked, the kernel would end the process without a
        // word.
        for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) ::sigdelset(&held, own);
        ::pthread_sigmask(SIG_BLOCK, &held, &before_);
    }
    ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

private:
    sigset_t before_;
};

// CPU time of the threads that worked together with this thread: their own clocks end with them.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local std::chrono::nanoseconds others_cpu_time{0};

void run(const std::function<void()>& work) {
    try {
        work();
    } catch (const abi::__forced_unwind&) {
        // glibc ends the process if the unwinding of a cancelled thread stops.
        throw;
    } catch (...) {
        // The process belongs to the application: the exception ends only this thread.
    }
}

}  // namespace

Result<Thread> Thread::start(std::function<void()> work) {
    const SignalsHeld held;
    try {
        Thread started;
        started.thread_ = std::thread(run, std::move(work));
        return started;
    } catch (const std::system_error& failed) {
        return Error{ErrorKind::retry, posix_error("start of a thread", "this process", failed.code().value()).what +
                                           " (ulimit -u, pids.max of the job's control group)"};
    }
}

Thread& Thread::operator=(Thread&& other) noexcept {
    join();
    thread_ = std::move(other.thread_);
    return *this;
}

void Thread::join() {
    if (thread_.joinable()) thread_.join();
}

void work_together(std::uint64_t threads, const std::function<void()>& work) {
    std::mutex mutex;  // guards the variables below
    std::exception_ptr thrown;
    std::chrono::nanoseconds used{0};
    const auto beside = [&] {
        std::exception_ptr thrown_here;
        try {
            work();
        } catch (const abi::__forced_unwind&) {
            throw;
        } catch (...) {
            thrown_here = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        if (!thrown) thrown = thrown_here;
        used += cpu_time();
    };
    {
        std::vector<Thread> others;  // joined at the end of this block
        // A thread that cannot start is no error of the work: the started threads do it all.
        static_cast<void>(attempt([&]() -> Result<> {
            others.reserve(threads);
            while (others.size() + 1 < threads) {
                FB_TRY_ASSIGN(started, Thread::start(beside));
                others.push_back(std::move(started));
            }
            return {};
        }));
        work();
    }
    others_cpu_time += used;
    if (thrown) std::rethrow_exception(thrown);
}

std::chrono::nanoseconds cpu_time() {
    struct timespec own {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);  // never fails for the calling thread
    return std::chrono::seconds(own.tv_sec) + std::chrono::nanoseconds(own.tv_nsec) + others_cpu_time;
}

}  // namespace forebay::sys
