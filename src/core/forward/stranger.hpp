// A connection whose other side has not shown the token yet. Its greeting is read as it arrives, without waiting, so
// one thread can read many.
//
// Life:   hear() after each arrival of bytes -> guest() after hear() returned true

#pragma once

#include <string>

#include "core/forward/frames.hpp"
#include "core/forward/limits.hpp"
#include "core/sys/clock.hpp"

namespace forebay::forward {

/// A connection whose other side has shown the token.
struct Guest {
    sys::Connection connection;
    std::uint64_t client = 0;
    std::string run, name;
};

class Stranger {
public:
    Stranger(sys::Connection connection, sys::Clock::time_point deadline)
        : connection_(std::move(connection)), deadline_(deadline) {}

    const sys::Connection& connection() const { return connection_; }
    sys::Clock::time_point deadline() const { return deadline_; }
    /// Returns true if the first message was a client's.
    bool known() const { return known_; }

    /// Reads the bytes that have arrived. Returns true once the token is shown. After an error call send_away(). A
    /// stranger that sent a whole greeting has got the reason already.
    Result<bool> hear(const SipKey& key);
    Guest guest();
    void send_away() { connection_ = {}; }
    bool is_gone() const { return !connection_.is_open(); }

private:
    Result<bool> answer(const SipKey& key, const Frame& message);
    Result<> answer_hello(const SipKey& key, const Request& hello);
    Error refuse(Error why);

    sys::Connection connection_;
    sys::Clock::time_point deadline_;
    Incoming incoming_{limits::greeting_bytes_max};
    bool known_ = false;
    Greeting greeting_;
    std::string name_;
};

}  // namespace forebay::forward
