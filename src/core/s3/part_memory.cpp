#include "core/s3/part_memory.hpp"

namespace forebay::s3 {

namespace {

constexpr std::size_t kept_max = 16;  // a thread uses one at a time

}  // namespace

PartMemory::Taken PartMemory::take(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    kept_.reserve(kept_max);  // keep() runs in a destructor and must not allocate
    std::unique_ptr<std::byte[]> memory;
    if (bytes == part_bytes_least && !kept_.empty()) {
        memory = std::move(kept_.back());
        kept_.pop_back();
    } else {
        memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
    }
    taken_bytes_ += bytes;
    return {memory.release(), {this, bytes}};
}

void PartMemory::keep(std::byte* memory, std::uint64_t bytes) {
    std::unique_ptr<std::byte[]> given(memory);
    const std::lock_guard lock(mutex_);
    taken_bytes_ -= bytes;
    if (bytes == part_bytes_least && kept_.size() < kept_max) kept_.push_back(std::move(given));
}

void PartMemory::begin_object() {
    const std::lock_guard lock(mutex_);
    ++objects_;
}

void PartMemory::end_object() {
    const std::lock_guard lock(mutex_);
    if (--objects_ == 0) kept_.clear();
}

std::uint64_t PartMemory::bytes() {
    const std::lock_guard lock(mutex_);
    return taken_bytes_ + kept_.size() * part_bytes_least;
}

}  // namespace forebay::s3
