// Connections without a whole request head. One thread reads all of them, so a silent or slow client costs no thread.
// If there are too many, the oldest is closed.
//
// Threads: one.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/socket.hpp"

namespace forebay::report {

struct RequestHead {
    sys::Connection connection;
    std::string text;  // received so far: the head of a request, maybe more
};

class RequestHeads {
public:
    struct Limits {
        std::size_t waiting_max;           // connections
        std::size_t bytes_max;             // of one head
        std::chrono::milliseconds to_end;  // from the connection to the end of the head
    };
    /// `listener` must outlive it.
    RequestHeads(sys::Listener& listener, const Limits& limits) : listener_(listener), limits_(limits) {}

    /// Waits at most `timeout` for a connection, for bytes or for a deadline. Returns the heads that are now whole.
    /// `retry` if no connection can be accepted at the moment.
    Result<std::vector<RequestHead>> turn(std::chrono::milliseconds timeout);

private:
    struct Waiting {
        RequestHead head;
        sys::Clock::time_point deadline;
        bool is_done = false;
    };
    Result<> take();
    void hear(Waiting& waiting);

    sys::Listener& listener_;
    const Limits limits_;
    std::vector<Waiting> all_;  // oldest first
    std::vector<RequestHead> whole_;
};

}  // namespace forebay::report
