#include "core/move/flow.hpp"

#include <fmt/format.h>

#include <mutex>

#include "core/base/try.hpp"

namespace forebay::move {

// Every thread that finds the gate wanted asks for the exclusive lock, so no thread goes on before one has passed.
void Flow::let_others_pass() {
    if (options_.gate == nullptr || stopped() || !options_.gate->wanted()) return;
    const std::unique_lock nobody_is_busy(gate_mutex_);
    // Asked again: another thread may have passed while this thread waited for the lock.
    if (options_.gate->wanted()) options_.gate->pass();
}

std::uint64_t Flow::piece_bytes(std::uint64_t bytes_max) const {
    const auto own = pace_.piece_bytes(bytes_max);
    return options_.pace == nullptr ? own : options_.pace->piece_bytes(own);
}

bool Flow::wait_turn(std::uint64_t bytes) {
    return pace_.wait_turn(bytes, stop_) && (options_.pace == nullptr || options_.pace->wait_turn(bytes, stop_));
}

Result<> Flow::write(sys::File& file, std::uint64_t offset, std::span<const std::byte> bytes,
                     const std::function<bool()>& goes_on, std::atomic<std::uint64_t>* done) {
    for (std::uint64_t at = 0; at < bytes.size();) {
        let_others_pass();
        const auto now = piece_bytes(bytes.size() - at);
        if (!wait_turn(now))
            return Error{ErrorKind::retry, fmt::format("writing stopped on request at byte {}", offset + at)};
        if (!goes_on()) return {};
        {
            // Held only during the write: a waiting call can pass between two pieces.
            const auto writes = busy();
            FB_TRY(file.write(offset + at, bytes.subspan(at, now)));
        }
        if (done != nullptr) done->fetch_add(now, std::memory_order_relaxed);
        at += now;
    }
    return {};
}

}  // namespace forebay::move
