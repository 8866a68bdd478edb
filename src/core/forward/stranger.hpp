// A connection whose other side has not shown yet that it has the token. Its greeting is read as it comes and never
// waited for, so that one thread hears any number of them.
//
// Life:   hear(), whenever something has come -> guest(), once it was true

#pragma once

#include <string>

#include "core/forward/frames.hpp"
#include "core/forward/limits.hpp"
#include "core/sys/clock.hpp"

namespace forebay::forward {

/// A connection whose other side has the token.
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
    /// Whether its first words were those of a client.
    bool known() const { return known_; }

    /// Hears what has come: whether it has shown now that it has the token. After an error it is to be sent away; it
    /// has been told why if it got as far as to ask.
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
