// Streams of bytes between this process and programs that it starts, over their standard input and output. In the
// started program, standard() is the other end. Only wait_for() and let_end() wait. A call that meets the program's end
// also waits up to 1 s for its exit code.
//
// Life:    start() -> put(), flush(), take() ... -> let_end(), or the destructor kills the program and all that it
//          started. The started program sees the end of its parent as the end of its input.
// Threads: one at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/process.hpp"
#include "forebay/result.hpp"

namespace forebay::sys {

class Bell;
class Connection;

class Channel {
public:
    /// Searches PATH if the program has no slash: `missing` if there is none. The program gets its own session, and
    /// signals as in a fresh login.
    static Result<Channel> start(const Spawn& spawn);
    /// This process's own standard input and output.
    static Result<Channel> standard();
    /// Over a connection to a program on another host.
    static Result<Channel> over(Connection connection);
    Channel(Channel&& other) noexcept;
    Channel& operator=(Channel&&) = delete;
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    ~Channel();

    /// put() queues bytes; flush() sends as many of them as the other side takes now. `broken` if the other side has
    /// gone.
    void put(std::span<const std::byte> bytes) { to_send_.insert(to_send_.end(), bytes.begin(), bytes.end()); }
    Result<> flush();
    bool has_to_send() const { return sent_ < to_send_.size(); }
    /// Appends the bytes that have come, maybe none. `broken` at the end of the stream; the error reports how the
    /// program ended.
    Result<> take(std::vector<std::byte>& bytes);
    /// The last bytes that the program wrote to its standard error.
    std::string last_words();
    /// Ends the program's input and waits for its end. If it does not end, the destructor kills it.
    void let_end(std::chrono::milliseconds at_most);

private:
    friend void wait_for(std::span<Channel* const> channels, Bell& bell, Clock::time_point until);
    Channel(std::string program, int in, int out, int errors, std::int64_t process);
    Error ended();

    std::string program_;
    int in_ = -1, out_ = -1, errors_ = -1;  // in_ and out_ of a program are the same socket
    std::int64_t process_ = 0;              // 0: no process, or its exit code is collected
    std::vector<std::byte> to_send_;
    std::size_t sent_ = 0;
    std::string words_;
};

/// Wakes a thread in wait_for(). Any thread may call ring().
class Bell {
public:
    static Result<Bell> make();
    Bell(Bell&& other) noexcept;
    Bell& operator=(Bell&&) = delete;
    Bell(const Bell&) = delete;
    Bell& operator=(const Bell&) = delete;
    ~Bell();
    void ring();

private:
    friend void wait_for(std::span<Channel* const> channels, Bell& bell, Clock::time_point until);
    Bell(int from, int to) : from_(from), to_(to) {}
    int from_ = -1, to_ = -1;  // the ends of a pipe
};

/// Waits until a channel has bytes to take or room for bytes to send, or the bell rings; at most until `until`, and at
/// most 1 s a call.
void wait_for(std::span<Channel* const> channels, Bell& bell, Clock::time_point until);

}  // namespace forebay::sys
