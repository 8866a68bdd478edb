// A crew: the calling thread, and helpers that work beside it for moments, for example in the copy of a save. Between
// two jobs the helpers sleep in the kernel. Each has its own stack, takes no signals, and calls neither MPI nor the
// application.
//
// Each helper stays on one CPU, and there is one helper more than can work at once: the helper on the caller's CPU
// stays asleep. The kernel would wake unpinned helpers beside the caller, because threads of the application spin on
// the other CPUs. The helpers and the caller would then take turns.
//
// Life: the constructor starts the helpers -> each(), one call at a time -> the destructor joins them. A forked child
//       has no helpers and must not use the object.

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "core/sys/cpus.hpp"
#include "core/sys/thread.hpp"

namespace forebay::sys {

class Crew {
public:
    /// `threads` includes the caller; the helpers are spread over `cpus`. If the machine or the job gives no more
    /// threads, or a CPU may not be used, shortage() is the error. Then only half of the started helpers stay: a
    /// process at its limit needs threads for other work too.
    Crew(std::uint32_t threads, const CpuSet& cpus);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    std::uint32_t threads() const { return threads_; }
    const Result<>& shortage() const { return shortage_; }

    /// Calls work(i) for each i below `count`, on at most `threads` threads with the caller. A free thread takes the
    /// next i. Returns when all have ended. Allocates nothing. The caller may wait for the last piece of a helper.
    /// `work` must not throw.
    template <class Work>
    void each(std::uint64_t count, std::uint32_t threads, const Work& work) {
        each(count, threads,
             {&work, [](const void* known, std::uint64_t i) { (*static_cast<const Work*>(known))(i); }});
    }

private:
    struct Job {
        const void* work = nullptr;
        void (*call)(const void*, std::uint64_t) = nullptr;
    };
    struct Helper {
        int cpu = 0;
        std::atomic<std::uint32_t> turn{0};  // counts wake-ups; the helper sleeps on it
        std::atomic<bool> ends{false};
        Thread thread = {};
    };

    Result<> start(std::uint32_t threads, const CpuSet& cpus);
    void each(std::uint64_t count, std::uint32_t threads, const Job& job);
    void end_last();
    void wake_helpers(std::uint64_t count);
    void take_pieces();
    void help(Helper& self);

    std::deque<Helper> helpers_;
    std::uint32_t threads_ = 1;
    Result<> shortage_;
    // The current job. The caller writes it while no helper is inside.
    Job job_;
    std::uint64_t count_ = 0;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<std::uint32_t> inside_{0};  // helpers at work, and a bit that lets more of them join
};

}  // namespace forebay::sys
