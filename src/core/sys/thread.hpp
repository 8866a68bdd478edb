// Threads of ours in somebody else's process. Signals of the application go to its own threads: a handler of its would
// run beside its work and on our stack. What a thread of ours throws ends that thread alone.

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
    /// `retry` where the machine or the job gives no more threads. Work that has somebody to tell its errors to catches
    /// what it throws itself.
    static Result<Thread> start(std::function<void()> work);
    Thread(Thread&&) noexcept = default;
    Thread& operator=(Thread&& other) noexcept;
    ~Thread() { join(); }

    bool runs() const { return thread_.joinable(); }
    /// Lets it run on these CPUs alone; `broken` where the process may use none of them.
    Result<> keep_on(const CpuSet& cpus);
    void join();
    /// Lets it go on alone: one that hangs in a dead mount cannot be joined.
    void leave() { thread_.detach(); }

private:
    std::thread thread_;
};

/// Does `work` on this thread and, beside it, on up to `threads` - 1 others: each takes the next piece until there is
/// none. Fewer threads where the machine or the job gives no more: then it takes longer. Returns when all have ended;
/// throws what `work` has thrown here, or else what the first of the others has: a part is then not done.
void work_together(std::uint64_t threads, const std::function<void()>& work);

/// The time that the calling thread has had a CPU since it began, user and system, with that of the threads that worked
/// together with it. One system call.
std::chrono::nanoseconds cpu_time();

/// What this thread has done since this was made, of a thread that computes and waits for nothing.
class Computing {
public:
    std::chrono::nanoseconds lasted() const { return Clock::now() - begin_; }
    /// Whether it waited for a CPU that somebody else had, for a quarter of its CPU time or longer.
    bool was_crowded() const { return lasted() > (cpu_time() - cpu_before_) * 5 / 4; }

private:
    Clock::time_point begin_ = Clock::now();
    std::chrono::nanoseconds cpu_before_ = cpu_time();
};

}  // namespace forebay::sys
