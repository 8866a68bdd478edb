// Streams of bytes between this process and programs that it has started, over their standard input and output; the
// other end is such a program's channel of its own standard input and output. Only wait_for() and let_end() wait.
//
// Life:    start() -> put(), flush(), take() ... -> let_end(), or the destructor kills it with what it has started.
//          A program notices the end of the one that has started it by the end of its input.
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

class Channel {
public:
    /// Looked for in PATH where it has no slash: `missing` when there is none. It has a session of its own and signals
    /// as in a fresh login.
    static Result<Channel> start(const Spawn& spawn);
    /// This process's own standard input and output.
    static Result<Channel> standard();
    Channel(Channel&& other) noexcept;
    Channel& operator=(Channel&&) = delete;
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    ~Channel();

    /// Bytes that flush() sends, as many of them as the other side takes now; `broken` where it has gone.
    void put(std::span<const std::byte> bytes) { to_send_.insert(to_send_.end(), bytes.begin(), bytes.end()); }
    Result<> flush();
    bool has_to_send() const { return sent_ < to_send_.size(); }
    /// Appends what has come, maybe nothing; `broken` at its end, which says how the program ended.
    Result<> take(std::vector<std::byte>& bytes);
    /// The end of what the program wrote to its standard error.
    std::string last_words();
    /// Ends its input and waits for its end; one that does not end is killed by the destructor.
    void let_end(std::chrono::milliseconds at_most);

private:
    friend void wait_for(std::span<Channel* const> channels, Bell& bell, Clock::time_point until);
    Channel(std::string program, int in, int out, int errors, std::int64_t process);
    Error ended();

    std::string program_;
    int in_ = -1, out_ = -1, errors_ = -1;  // in_ and out_ of a program are one socket
    std::int64_t process_ = 0;              // 0: none, or collected
    std::vector<std::byte> to_send_;
    std::size_t sent_ = 0;
    std::string words_;
};

/// Wakes who waits for channels. ring(): any thread.
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
    int from_ = -1, to_ = -1;  // of a pipe
};

/// Until one of them has something to take or room for what it has to send, or the bell rings.
void wait_for(std::span<Channel* const> channels, Bell& bell, Clock::time_point until);

}  // namespace forebay::sys
