#include "insight/report/page_feed.hpp"

#include <utility>

namespace forebay::report {

void PageFeed::put(std::string text) {
    {
        const std::lock_guard lock(mutex_);
        // An equal text wakes no viewer.
        if (text_ && *text_ == text) return;
        text_ = std::make_shared<const std::string>(std::move(text));
        ++number_;
    }
    // After the lock is released, so that a woken viewer does not wait for it.
    changed_.notify_all();
}

PageFeed::News PageFeed::newest() const {
    const std::lock_guard lock(mutex_);
    return {number_, text_};
}

PageFeed::News PageFeed::wait_for(std::uint64_t seen, std::chrono::milliseconds timeout) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return closed_ || number_ != seen; });
    if (closed_ || number_ == seen) return {number_, nullptr};
    return {number_, text_};
}

void PageFeed::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
}

bool PageFeed::is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

}  // namespace forebay::report
