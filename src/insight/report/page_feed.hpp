// The newest state of a run as one text, for any number of viewers. Whoever comes late gets the newest, and none of
// those between: so a viewer costs no memory, however slow it is.
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
        std::shared_ptr<const std::string> text;  // null where nothing has come for so long, or after close()
    };

    /// Viewers are told of it unless it is the text that they have.
    void put(std::string text);
    News newest() const;
    /// A text of another number than `seen`; waits for one, at most `timeout`.
    News wait_for(std::uint64_t seen, std::chrono::milliseconds timeout) const;
    /// From now on nobody waits.
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
