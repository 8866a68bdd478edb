// A station of analyses that works on a thread of its own: the agent's loop, and the other stations with it, go on
// meanwhile. It has one snapshot at a time. One that comes while it reads another is left out and counted, so that its
// slot is free of a lease: of two slots the saves then use one, and a slow script keeps the other. When that one has
// been read, and results are still to be written, the next one waits in its slot, until a save needs that.
//
// Threads: run() and the rest by the agent's loop; the station within by the thread, but its wants() and leave_out().

#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "core/sys/thread.hpp"
#include "path/agent/insitu_station.hpp"

namespace forebay::agent {

class SideStation final : public Station {
public:
    /// `slots` must outlive it. Its thread begins with the first snapshot. Where the machine gives none, it works as
    /// any station.
    SideStation(Slots& slots, std::unique_ptr<InsituStation> station);
    /// What it has at work is told to stop: the next agent does it.
    ~SideStation() override;

    const char* name() const override { return station_->name(); }
    std::uint32_t hold() const override { return station_->hold(); }
    bool wants(std::uint32_t slot) const override { return station_->wants(slot); }
    Result<> run(std::uint32_t slot, bool again, move::Gate& gate, const std::atomic<bool>& stop) override;
    bool is_at_work(std::uint32_t slot) const override;

private:
    struct Job {
        std::uint32_t slot = 0;
        std::uint64_t save = 0;
    };
    void keep();
    void work(const Job& job);

    Slots& slots_;
    const std::unique_ptr<InsituStation> station_;
    std::atomic<bool> stop_{false};

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    std::deque<Job> jobs_;  // the first one is at work
    sys::Thread thread_;
};

}  // namespace forebay::agent
