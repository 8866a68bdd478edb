// Work in pieces that threads share: a thread takes the next piece, works at it beside the others, and stores what has
// become of it in its turn. Turns come in the order of the pieces.
//
// An error of any piece ends all of them; of several the one of the lowest piece counts.

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

    /// The next piece to work at; nothing when all are taken or one has failed.
    std::optional<std::size_t> take() {
        const auto piece = next_++;
        return piece < pieces_ ? std::optional(piece) : std::nullopt;
    }

    /// Waits for the turn of a piece, which lasts until pass(): no other thread has one. False when a piece has failed.
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

    /// When all threads have ended.
    const std::optional<Error>& error() const { return error_; }

private:
    const std::size_t pieces_;
    std::atomic<std::size_t> next_{0};

    std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    std::size_t turn_ = 0;
    std::optional<Error> error_;
    std::size_t failed_ = 0;  // the piece that it is of
};

}  // namespace forebay::drain
