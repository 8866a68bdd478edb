// Log lines that any program in the network can cause. They are limited to one line in limits::complaint_pause, with
// the number of lines that it replaces.
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
    /// Writes the held-back line if its time has come. Returns the remaining wait, or -1 if nothing is held back.
    std::chrono::milliseconds tell_due();
    /// Writes the held-back line now.
    void tell_rest();

private:
    void tell_held_back();

    const std::function<void(const std::string&)> log_;
    std::mutex mutex_;  // guards the members below
    sys::Clock::time_point next_ = sys::Clock::time_point::min();
    std::string held_back_;  // the latest line
    std::size_t count_ = 0;
};

}  // namespace forebay::forward
