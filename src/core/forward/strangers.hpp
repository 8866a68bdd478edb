// All connections of a forwarder that have not shown the token yet, read by one thread.
//
// Their number and their lifetime are bounded, and they cost no thread. If more come, the oldest goes. A connection
// whose first message was a client's does not go for them, so strangers cannot keep a client out.

#pragma once

#include <chrono>
#include <vector>

#include "core/forward/complaints.hpp"
#include "core/forward/stranger.hpp"

namespace forebay::forward {

class Strangers {
public:
    /// `listener` and `complaints` must outlive the object. `greeting_max` is the limit for each greeting.
    Strangers(sys::Listener& listener, Complaints& complaints, const SipKey& key,
              std::chrono::milliseconds greeting_max);

    /// Waits until a connection comes, sends bytes or is late, or until the listener is shut. Returns the connections
    /// that have shown the token. `retry` if no connection can be accepted now.
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
    std::vector<Stranger> all_;  // oldest first
};

}  // namespace forebay::forward
