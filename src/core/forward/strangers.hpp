// All connections of a forwarder that have not shown yet that they have the token, heard by one thread.
//
// They are few, live for a bounded time in all, and cost no thread. Where more come, the oldest goes; one whose first
// words were those of a client is not among those that go, so no number of others keeps a client out.

#pragma once

#include <chrono>
#include <vector>

#include "core/forward/complaints.hpp"
#include "core/forward/stranger.hpp"

namespace forebay::forward {

class Strangers {
public:
    /// Both must outlive the object; `greeting_max` is what each has for its greeting.
    Strangers(sys::Listener& listener, Complaints& complaints, const SipKey& key,
              std::chrono::milliseconds greeting_max);

    /// Waits until somebody comes, says something or is late, or until the listener is shut; who turned out to have the
    /// token. `retry` when nobody can be taken for now.
    Result<std::vector<Guest>> turn();

private:
    Result<sys::Ready> wait();
    Result<> take(std::vector<Guest>& guests);
    void hear(Stranger& stranger, std::vector<Guest>& guests);
    void send_away(Stranger& stranger, const std::string& why);
    void keep(std::size_t all_max, bool known);

    sys::Listener& listener_;
    Complaints& complaints_;
    const SipKey key_;
    const std::chrono::milliseconds greeting_max_;
    std::vector<Stranger> all_;  // in the order of their coming
};

}  // namespace forebay::forward
