// The buffers for pieces on a forwarder. Their number is fixed, so memory and concurrent writes do not grow with the
// number of clients.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/forward/limits.hpp"

namespace forebay::forward {

class Pieces {
public:
    explicit Pieces(int count) : left_(count) {}

    /// A page-aligned buffer of limits::piece_bytes. Its destructor gives the buffer back.
    class Piece {
    public:
        Piece() = default;
        Piece(Pieces& owner, std::byte* at) : owner_(&owner), at_(at) {}
        Piece(Piece&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), at_(other.at_) {}
        Piece& operator=(Piece&&) = delete;
        Piece(const Piece&) = delete;
        Piece& operator=(const Piece&) = delete;
        ~Piece() {
            if (owner_ != nullptr) owner_->give_back(at_);
        }
        explicit operator bool() const { return owner_ != nullptr; }
        std::span<std::byte> first(std::size_t bytes) const { return {at_, bytes}; }

    private:
        Pieces* owner_ = nullptr;
        std::byte* at_ = nullptr;
    };

    /// Waits for a free buffer. Returns an empty Piece after end().
    Piece take();
    void end();

private:
    struct Free {
        void operator()(std::byte* at) const;
    };
    void give_back(std::byte* at);

    std::mutex mutex_;
    std::condition_variable freed_;
    bool ending_ = false;
    int left_;  // buffers that may still be allocated
    std::vector<std::unique_ptr<std::byte, Free>> free_;
};

}  // namespace forebay::forward
