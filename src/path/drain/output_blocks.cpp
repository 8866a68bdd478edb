#include "path/drain/output_blocks.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/sys/clock.hpp"

namespace forebay::drain {

namespace {

// With this size a chunk ends in at most two blocks of the file.
constexpr std::uint64_t block_bytes_min = 2 * limits::segment_bytes;

}  // namespace

OutputBlocks::OutputBlocks(sys::File& file, move::Flow& flow, std::uint64_t offset, std::uint64_t block_bytes,
                           std::size_t threads)
    : file_(file),
      flow_(flow),
      block_bytes_(std::max(block_bytes, block_bytes_min)),
      offset_(offset),
      buffers_(threads + 1) {
    for (auto& buffer : buffers_) free_.push_back(&buffer);
}

std::vector<OutputBlocks::Full> OutputBlocks::append(std::span<const std::byte> bytes) {
    std::vector<Full> full;
    while (!bytes.empty()) {
        if (current_ == nullptr) current_ = take_free();
        const auto now = std::min<std::uint64_t>(bytes.size(), block_bytes_ - filled_);
        std::memcpy(current_->take(block_bytes_).data() + filled_, bytes.data(), now);
        filled_ += now;
        bytes = bytes.subspan(now);
        if (filled_ == block_bytes_) full.push_back(next(block_bytes_));
    }
    return full;
}

PageBuffer* OutputBlocks::take_free() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [&] { return !free_.empty(); });
    auto* const buffer = free_.back();
    free_.pop_back();
    return buffer;
}

OutputBlocks::Full OutputBlocks::next(std::uint64_t bytes) {
    const Full full{current_, offset_, bytes};
    offset_ += bytes;
    filled_ = 0;
    current_ = nullptr;
    return full;
}

OutputBlocks::Full OutputBlocks::rest() {
    if (current_ == nullptr) return {};
    const auto bytes = round_up(filled_, limits::page_bytes);
    std::ranges::fill(current_->take(block_bytes_).subspan(filled_, bytes - filled_), std::byte{0});
    return next(bytes);
}

Result<> OutputBlocks::write(const Full& full) {
    const auto bytes = std::span<const std::byte>(full.buffer->take(block_bytes_)).first(full.bytes);
    const auto start = sys::Clock::now();
    const auto done = flow_.write(
        file_, full.offset, bytes, [] { return true; }, nullptr);
    const std::lock_guard lock(mutex_);
    write_seconds_ += std::chrono::duration<double>(sys::Clock::now() - start).count();
    written_ += full.bytes;
    // Also after an error: a thread in append() may wait for this buffer.
    free_.push_back(full.buffer);
    freed_.notify_one();
    return done;
}

std::optional<double> OutputBlocks::write_seconds() const {
    const std::lock_guard lock(mutex_);
    return written_ == 0 ? std::nullopt : std::optional(write_seconds_ / static_cast<double>(written_));
}

}  // namespace forebay::drain
