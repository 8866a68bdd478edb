// A Store that tells how long each write and sync takes, and at which storage target: what an agent drains through. It
// changes nothing of what it passes on.
//
// Cost: two readings of the clock a write, and a question about the file's layout a file that is synced.
// Threads: as the Store below it; `sink` is called from any of its threads.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/format/timing.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/store.hpp"

namespace forebay::agent {

/// Hears of the writes of one file when it is synced or closed, and of syncs.
class TimingSink {
public:
    TimingSink() = default;
    TimingSink(const TimingSink&) = delete;
    TimingSink& operator=(const TimingSink&) = delete;
    virtual ~TimingSink() = default;

    struct Write {
        sys::Clock::time_point start;
        sys::Clock::duration took;
        std::uint64_t offset = 0, bytes = 0;
        bool failed = false;
    };
    /// `map` is empty where the layout is not known.
    virtual void wrote(const std::vector<Write>& writes, const sys::StripeMap& map) = 0;
    virtual void synced(sys::Clock::time_point start, sys::Clock::duration took, bool failed) = 0;
};

/// Both must outlive it.
std::unique_ptr<sys::Store> timed(sys::Store& store, TimingSink& sink);

}  // namespace forebay::agent
