// A crew: the thread that calls, and helpers that work beside it for moments, as for the copy of a save. Between two
// such moments the helpers sleep in the kernel. They have a stack each, take no signals and call neither MPI nor the
// application.
//
// Each helper is kept on one CPU, and there is one more than work at once: the one on the CPU where the caller runs is
// left asleep. Helpers that may run anywhere are woken beside the caller, where threads of the application spin on the
// other CPUs, and then take turns with it.
//
// Life: the constructor starts the helpers -> each(), one at a time -> the destructor joins them. A child that is
// forked has no helpers and must leave the object alone.

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "core/sys/cpus.hpp"
#include "core/sys/thread.hpp"

namespace forebay::sys {

class Crew {
public:
    /// `threads` of them, the caller's among these; the helpers are spread over `cpus`. Where the machine or the job
    /// gives no more, or a CPU may not be used, shortage() is the error: half of those that were started stay, since a
    /// process at its limit needs threads for other work too.
    Crew(std::uint32_t threads, const CpuSet& cpus);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    std::uint32_t threads() const { return threads_; }
    const Result<>& shortage() const { return shortage_; }

    /// Calls work(i) for each i below `count`, on at most `threads` threads, the caller among them: whoever is free
    /// takes the next. Returns when all have ended. Allocates nothing; the caller may wait for a helper's last piece.
    /// `work` throws nothing.
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
        std::atomic<std::uint32_t> turn{0};  // counts the times it was woken: what it sleeps on
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
    // The work under way: written by the caller while nobody is inside.
    Job job_;
    std::uint64_t count_ = 0;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<std::uint32_t> inside_{0};  // helpers at work, and whether others may join them
};

}  // namespace forebay::sys
