// The newest state of a run as one text, for any number of viewers. A slow viewer gets the newest text and misses the
// texts between. So it costs no memory.
//
// Threads: any.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace forebay::report {

class PageFeed {
public:
    struct News {
        std::uint64_t number = 0;                 // 0: there is no text yet
        std::shared_ptr<const std::string> text;  // null after the timeout or close()
    };

    /// Wakes the viewers, unless the text equals the current text.
    void put(std::string text);
    News newest() const;
    /// Waits at most `timeout` for a text with another number than `seen`.
    News wait_for(std::uint64_t seen, std::chrono::milliseconds timeout) const;
    /// Ends all waits, now and later.
    void close();
    bool is_closed() const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::uint64_t number_ = 0;
    std::shared_ptr<const std::string> text_;
    bool closed_ = false;
};

}  // namespace forebay::report
