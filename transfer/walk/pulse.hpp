// Limits progress reports: at most ten a second, by one thread at a time. A thread that finds another thread reporting
// continues its work.

#pragma once

#include <chrono>
#include <mutex>

#include "core/sys/clock.hpp"

namespace forebay::tree {

class Pulse {
public:
    /// Calls `tell()` if a report is due. Threads: any, as often as they like.
    template <class Tell>
    void beat(const Tell& tell) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        const auto now = sys::Clock::now();
        if (!lock || now - last_ < pause) return;
        last_ = now;
        tell();
    }

private:
    static constexpr std::chrono::milliseconds pause{100};

    std::mutex mutex_;
    sys::Clock::time_point last_{};
};

}  // namespace forebay::tree
