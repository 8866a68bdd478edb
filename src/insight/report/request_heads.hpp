// Connections of which the head of a request has not come whole yet, heard by one thread: a stranger who says little,
// or nothing, costs no thread. If more come than there is room for, the oldest goes.
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
    std::string text;  // what has come: the head of a request, and maybe more
};

class RequestHeads {
public:
    struct Limits {
        std::size_t waiting_max;           // connections
        std::size_t bytes_max;             // of a head
        std::chrono::milliseconds to_end;  // from its coming to the end of its head
    };
    /// `listener` must outlive it.
    RequestHeads(sys::Listener& listener, const Limits& limits) : listener_(listener), limits_(limits) {}

    /// Waits until somebody comes, says something or is late, at most `timeout`; heads that are whole by now. `retry`
    /// where nobody can be taken for now.
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
    std::vector<Waiting> all_;  // in the order of their coming
    std::vector<RequestHead> whole_;
};

}  // namespace forebay::report
