// A station of analyses with a thread of its own: the agent's loop and the remaining stations continue meanwhile. It
// has one snapshot at a time. While it reads a snapshot, the next snapshot is left out and counted, so its slot has no
// lease. With two slots the saves then use one slot, and a slow script keeps the second. When the snapshot has been
// read, and results are still to be written, the next snapshot waits in its slot until a save needs the slot.
//
// Threads: run() and the rest from the agent's loop. The thread calls the inner station, except its wants() and
// leave_out().

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
    /// `slots` must outlive it. Its thread begins with the first snapshot. Without a thread it works like any other
    /// station.
    SideStation(Slots& slots, std::unique_ptr<InsituStation> station);
    /// Stops its current work: the next agent does it.
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

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable wake_;
    std::deque<Job> jobs_;  // the first job is at work
    sys::Thread thread_;
};

}  // namespace forebay::agent
