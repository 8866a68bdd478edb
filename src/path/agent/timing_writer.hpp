// Appends batches of timings to the file of a node in a run, on a thread beside the agent's loop: a slow target holds
// no drain and no save, and one that hangs holds the end of the agent for timings_end_max.
//
// What cannot be written is lost, and told once. Batches that wait are bounded: while nothing comes through, those that
// come last are lost.
// Threads: put() by any.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/sys/store.hpp"
#include "core/sys/thread.hpp"
#include "path/agent/event_sinks.hpp"
#include "path/agent/events.hpp"

namespace forebay::agent {

inline constexpr std::chrono::seconds timings_end_max{2};
/// Between two writes: saves that follow one another closely cost the target one open more in so long.
inline constexpr std::chrono::seconds timings_pause{5};
/// 4 MiB at most.
inline constexpr std::size_t timings_waiting_max = 64;

class TimingWriter {
public:
    /// `tell` must outlive it, and may hear from its thread.
    TimingWriter(std::shared_ptr<sys::Store> store, NodeFileOfRun file, Tell tell);
    TimingWriter(const TimingWriter&) = delete;
    TimingWriter& operator=(const TimingWriter&) = delete;
    /// As finish().
    ~TimingWriter();

    /// `bytes_max` is that of the file from now on.
    void put(std::string batch, std::uint64_t bytes_max);

    /// Returns when all is written, or after timings_end_max; nothing is written any more then.
    void finish();

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this object in a dead mount
    sys::Thread thread_;
};

}  // namespace forebay::agent
