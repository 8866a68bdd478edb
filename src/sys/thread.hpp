// Threads of ours in somebody else's process. Signals of the application go to its own threads: a handler of its would
// run beside its work and on our stack. What a thread of ours throws ends that thread alone.

#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

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
    void join();
    /// Lets it go on alone: one that hangs in a dead mount cannot be joined.
    void leave() { thread_.detach(); }

private:
    std::thread thread_;
};

/// Threads that do the same work as their caller, beside it; joined by the destructor.
class Helpers {
public:
    /// As many as `wanted`, or fewer where the machine or the job gives no more: then the work takes longer.
    Helpers(std::uint64_t wanted, const std::function<void()>& work);
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;
    /// Throws what the first of them has thrown, if one has: its part of the work is not done.
    void join();

private:
    std::mutex mutex_;
    std::exception_ptr thrown_;
    std::vector<Thread> threads_;
};

}  // namespace forebay::sys
