// A Store that measures each write and sync, with its storage target. An agent drains through it. It changes nothing
// that it passes on.
//
// Cost: two readings of the clock for each write, and one query of the file's layout for each synced file. Threads: as
// the Store below it; `sink` is called from any of its threads.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/format/timing.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/store.hpp"

namespace forebay::agent {

/// Gets the writes of a file when it is synced or closed, and gets syncs.
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
    /// `map` is empty if the layout is unknown.
    virtual void wrote(const std::vector<Write>& writes, const sys::StripeMap& map) = 0;
    virtual void synced(sys::Clock::time_point start, sys::Clock::duration took, bool failed) = 0;
};

/// Both must outlive it.
std::unique_ptr<sys::Store> timed(sys::Store& store, TimingSink& sink);

}  // namespace forebay::agent
