// Pieces of work that threads share. A thread takes the next piece, works on it while other threads work, and stores
// its result in its turn. Turns follow the order of pieces.
//
// An error of any piece ends all pieces. The error of the lowest piece counts.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>

#include "forebay/result.hpp"

namespace forebay::drain {

class Turns {
public:
    explicit Turns(std::size_t pieces) : pieces_(pieces) {}

    /// The next piece; empty if all are taken or a piece failed.
    std::optional<std::size_t> take() {
        const auto piece = next_++;
        return piece < pieces_ ? std::optional(piece) : std::nullopt;
    }

    /// Waits for the turn of a piece. It lasts until pass(), and no other thread has a turn. False if a piece failed.
    bool await(std::size_t piece) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return turn_ == piece || error_; });
        return !error_;
    }

    /// Ends the turn.
    void pass() {
        const std::lock_guard lock(mutex_);
        ++turn_;
        changed_.notify_all();
    }

    void fail(std::size_t piece, const Error& error) {
        const std::lock_guard lock(mutex_);
        next_ = pieces_;
        if (!error_ || piece < failed_) {
            error_ = error;
            failed_ = piece;
        }
        changed_.notify_all();
    }

    /// The first error in the order of pieces. Call it after all threads have ended.
    const std::optional<Error>& error() const { return error_; }

private:
    const std::size_t pieces_;
    std::atomic<std::size_t> next_{0};

    std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    std::size_t turn_ = 0;
    std::optional<Error> error_;
    std::size_t failed_ = 0;  // the piece of error_
};

}  // namespace forebay::drain
