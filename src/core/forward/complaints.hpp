// Lines of a forwarder's log that anybody can cause: one in limits::complaint_pause, which says how many it stands for.
//
// Threads: any.

#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "core/forward/limits.hpp"
#include "core/sys/clock.hpp"

namespace forebay::forward {

class Complaints {
public:
    /// `log` may be empty.
    explicit Complaints(std::function<void(const std::string&)> log) : log_(std::move(log)) {}
    Complaints(const Complaints&) = delete;
    Complaints& operator=(const Complaints&) = delete;

    void tell(const std::string& line);
    /// Tells what was held back, once its time has come; how long that still takes, or -1 where nothing is.
    std::chrono::milliseconds tell_due();
    /// Tells it now.
    void tell_rest();

private:
    void tell_held_back();

    const std::function<void(const std::string&)> log_;
    std::mutex mutex_;  // guards what follows
    sys::Clock::time_point next_ = sys::Clock::time_point::min();
    std::string held_back_;  // the last of them
    std::size_t count_ = 0;
};

}  // namespace forebay::forward
