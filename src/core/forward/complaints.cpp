#include "core/forward/complaints.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::forward {

void Complaints::tell(const std::string& line) {
    {
        const std::lock_guard lock(mutex_);
        held_back_ = line;
        ++count_;
    }
    tell_due();
}

std::chrono::milliseconds Complaints::tell_due() {
    const std::lock_guard lock(mutex_);
    if (count_ == 0) return std::chrono::milliseconds(-1);
    const auto now = sys::Clock::now();
    if (now < next_) return std::chrono::ceil<std::chrono::milliseconds>(next_ - now);
    next_ = now + limits::complaint_pause;
    tell_held_back();
    return std::chrono::milliseconds(-1);
}

void Complaints::tell_rest() {
    const std::lock_guard lock(mutex_);
    tell_held_back();
}

void Complaints::tell_held_back() {
    if (count_ > 0 && log_) log_(count_ == 1 ? held_back_ : fmt::format("{}, and {} more", held_back_, count_ - 1));
    count_ = 0;
}

}  // namespace forebay::forward
