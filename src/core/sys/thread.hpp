// Threads of ours in another program's process. They take none of the application's signals: its handler would run
// beside its work and on our stack. An exception in a thread of ours ends only that thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "core/sys/clock.hpp"
#include "core/sys/cpus.hpp"
#include "forebay/result.hpp"

namespace forebay::sys {

/// One thread, joined by the destructor.
class Thread {
public:
    Thread() = default;
    /// `retry` if the machine or the job gives no more threads. If somebody needs the errors of `work`, it must catch
    /// its exceptions itself.
    static Result<Thread> start(std::function<void()> work);
    Thread(Thread&&) noexcept = default;
    Thread& operator=(Thread&& other) noexcept;
    ~Thread() { join(); }

    bool runs() const { return thread_.joinable(); }
    /// Restricts it to these CPUs; `broken` if the process may use none of them.
    Result<> keep_on(const CpuSet& cpus);
    void join();
    /// Detaches it: a thread that hangs in a dead mount cannot be joined.
    void leave() { thread_.detach(); }

private:
    std::thread thread_;
};

/// Calls `work` on this thread and on up to `threads` - 1 more threads. Each takes pieces until none is left. If the
/// machine or the job gives fewer threads, it takes longer. Returns when all have ended. Throws the exception of this
/// thread, or else the first exception of the other threads: then a part is not done.
void work_together(std::uint64_t threads, const std::function<void()>& work);

/// CPU time of the calling thread since its start, user and system, with the time of threads that worked together with
/// it. One system call.
std::chrono::nanoseconds cpu_time();

/// Measures a thread that computes without waiting, from the construction of this object on.
class Computing {
public:
    std::chrono::nanoseconds lasted() const { return Clock::now() - begin_; }
    /// True if the thread waited for a busy CPU, for a quarter of its CPU time or longer.
    bool was_crowded() const { return lasted() > (cpu_time() - cpu_before_) * 5 / 4; }

private:
    Clock::time_point begin_ = Clock::now();
    std::chrono::nanoseconds cpu_before_ = cpu_time();
};

}  // namespace forebay::sys
