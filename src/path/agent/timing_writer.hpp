// Appends batches of timings to the file of a node in a run, on a thread beside the agent's loop. A slow target delays
// no drain and no save. A hanging target delays the end of the agent by at most timings_end_max.
//
// Batches that cannot be written are lost, and reported once. The number of waiting batches is bounded: while no write
// succeeds, the newest batches are lost. Threads: put() from any.

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
/// The pause between two writes: with frequent saves the target gets one more open in this time.
inline constexpr std::chrono::seconds timings_pause{5};
/// At most 4 MiB.
inline constexpr std::size_t timings_waiting_max = 64;

class TimingWriter {
public:
    /// `tell` must outlive it, and may be called from its thread.
    TimingWriter(std::shared_ptr<sys::Store> store, NodeFileOfRun file, Tell tell);
    TimingWriter(const TimingWriter&) = delete;
    TimingWriter& operator=(const TimingWriter&) = delete;
    /// Like finish().
    ~TimingWriter();

    /// `bytes_max` is the limit of the file from now on.
    void put(std::string batch, std::uint64_t bytes_max);

    /// Returns when all is written, or after timings_end_max; nothing is written after that.
    void finish();

private:
    struct Shared;
    std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this object in a dead mount
    sys::Thread thread_;
};

}  // namespace forebay::agent
