// When those who wait for a mover are told how far it is: at most ten times a second, by one thread at a time. A thread
// that finds another one telling goes on with its work.

#pragma once

#include <chrono>
#include <mutex>

#include "core/sys/clock.hpp"

namespace forebay::tree {

class Pulse {
public:
    /// Calls `tell()` where that is due. Any thread, as often as it likes.
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
