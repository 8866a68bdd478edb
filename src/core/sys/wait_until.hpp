// Waiting by repeated looks: for a lock to become free, a file to appear.

#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/sys/clock.hpp"

namespace forebay::sys {

/// The sleeps between looks: `first`, then twice as long each time, up to `longest`.
struct Pauses {
    std::chrono::microseconds first;
    std::chrono::microseconds longest = first;
};

/// Calls `look` until its answer is true (a bool, or an optional with a value) and returns the last answer. The last
/// look comes at the deadline or just after it. With a deadline in 100 ms and pauses from 20 ms on, it looks after 0,
/// 20, 60 and 100 ms.
template <class Look>
auto wait_until(Clock::time_point deadline, Pauses pauses, Look look) {
    for (auto pause = pauses.first;; pause = std::min(pause * 2, pauses.longest)) {
        auto answer = look();
        const auto now = Clock::now();
        if (answer || now >= deadline) return answer;
        std::this_thread::sleep_for(std::min<Clock::duration>(pause, deadline - now));
    }
}

}  // namespace forebay::sys
