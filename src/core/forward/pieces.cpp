#include "core/forward/pieces.hpp"

#include <new>

#include "core/base/limits.hpp"

namespace forebay::forward {

namespace {
constexpr std::align_val_t page{forebay::limits::page_bytes};
}

void Pieces::Free::operator()(std::byte* at) const { ::operator delete(at, page); }

Pieces::Piece Pieces::take() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return ending_ || left_ > 0 || !free_.empty(); });
    if (ending_) return {};
    if (free_.empty()) {
        std::unique_ptr<std::byte, Free> bytes(static_cast<std::byte*>(::operator new(limits::piece_bytes, page)));
        --left_;
        return {*this, bytes.release()};
    }
    auto* const at = free_.back().release();
    free_.pop_back();
    return {*this, at};
}

void Pieces::give_back(std::byte* at) {
    const std::lock_guard lock(mutex_);
    free_.emplace_back(at);
    freed_.notify_one();
}

void Pieces::end() {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    freed_.notify_all();
}

}  // namespace forebay::forward
