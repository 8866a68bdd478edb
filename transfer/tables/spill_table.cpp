#include "transfer/tables/spill_table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

constexpr std::size_t page_bytes = 4096;
// In the file a page begins with its number of entries and of hash bits, 4 bytes each.
constexpr std::size_t page_head_bytes = 8, key_bytes = 16;
// 2^32 pages are 16 TiB.
constexpr std::uint32_t bits_max = 32;
constexpr std::uint32_t none = UINT32_MAX;

std::uint64_t page_hash_of(const sys::EntryId& id) {
    std::byte key[key_bytes];
    store_le(key, id.device);
    store_le(key + 8, id.number);
    return siphash({}, key);
}

}  // namespace

SpillTable::SpillTable(std::size_t value_bytes, std::size_t memory_bytes)
    : record_bytes_(key_bytes + value_bytes),
      records_max_((page_bytes - page_head_bytes) / record_bytes_),
      frames_max_(std::max<std::size_t>(memory_bytes / page_bytes, 2)) {}

std::byte* SpillTable::record(const Frame& frame, std::size_t index) const {
    return frame.bytes.get() + page_head_bytes + index * record_bytes_;
}

// Frees any frame except `kept`. If the page in it cannot be written, the frame stays as it is.
Result<std::uint32_t> SpillTable::free_frame(std::uint32_t kept) {
    if (frames_.size() < frames_max_) {
        frames_.push_back({.page = none, .bytes = std::make_unique<std::byte[]>(page_bytes)});
        return static_cast<std::uint32_t>(frames_.size() - 1);
    }
    if (next_out_ == kept) next_out_ = (next_out_ + 1) % static_cast<std::uint32_t>(frames_.size());
    auto& frame = frames_[next_out_];
    if (frame.is_changed) {
        store_le(frame.bytes.get(), frame.count);
        store_le(frame.bytes.get() + 4, frame.bits);
        FB_TRY(file_.write(std::uint64_t{frame.page} * page_bytes, std::span(frame.bytes.get(), page_bytes)));
        frame.is_changed = false;
    }
    if (frame.page != none) frame_of_[frame.page] = none;
    frame.page = none;
    const auto freed = next_out_;
    next_out_ = (next_out_ + 1) % static_cast<std::uint32_t>(frames_.size());
    return freed;
}

// Loads the page of the hash and returns its frame.
Result<std::uint32_t> SpillTable::load(std::uint64_t hash) {
    if (pages_.empty()) {
        FB_TRY_ASSIGN(first, free_frame(none));
        frames_[first].page = 0;
        pages_ = {0};
        frame_of_ = {first};
    }
    const auto page = pages_[hash & (pages_.size() - 1)];
    if (frame_of_[page] != none) return frame_of_[page];
    FB_TRY_ASSIGN(at, free_frame(none));
    auto& frame = frames_[at];
    FB_TRY(file_.read(std::uint64_t{page} * page_bytes, std::span(frame.bytes.get(), page_bytes)));
    frame.page = page;
    frame.count = load_le<std::uint32_t>(frame.bytes.get());
    frame.bits = load_le<std::uint32_t>(frame.bytes.get() + 4);
    frame_of_[page] = at;
    return at;
}

std::size_t SpillTable::index_of(const Frame& frame, const sys::EntryId& id) const {
    std::byte key[key_bytes];
    store_le(key, id.device);
    store_le(key + 8, id.number);
    std::size_t index = 0;
    while (index < frame.count && std::memcmp(record(frame, index), key, key_bytes) != 0) ++index;
    return index;
}

bool SpillTable::holds(const sys::EntryId& id) const {
    if (is_empty()) return false;
    const auto at = frame_of_[pages_[page_hash_of(id) & (pages_.size() - 1)]];
    return at != none && index_of(frames_[at], id) < frames_[at].count;
    // A lookup here must not read the file: a page outside memory counts as not held.
}

Result<bool> SpillTable::find(const sys::EntryId& id, std::span<std::byte> value) {
    if (is_empty()) return false;
    FB_TRY_ASSIGN(at, load(page_hash_of(id)));
    const auto& frame = frames_[at];
    const auto index = index_of(frame, id);
    if (index == frame.count) return false;
    std::copy_n(record(frame, index) + key_bytes, value.size(), value.begin());
    return true;
}

Result<> SpillTable::put(const sys::EntryId& id, std::span<const std::byte> value) {
    const auto hash = page_hash_of(id);
    FB_TRY_ASSIGN(at, load(hash));
    auto index = index_of(frames_[at], id);
    const bool is_new = index == frames_[at].count;
    while (is_new && frames_[at].count == records_max_) {
        // All entries may fall into one half, so a page is split until the half of this entry has room.
        FB_TRY(split(at, hash));
        FB_TRY_ASSIGN(half, load(hash));
        at = half;
        index = frames_[at].count;
    }
    auto& frame = frames_[at];
    // The key is stored only now: a split may have moved the page to another frame.
    store_le(record(frame, index), id.device);
    store_le(record(frame, index) + 8, id.number);
    std::ranges::copy(value, record(frame, index) + key_bytes);
    frame.is_changed = true;
    if (!is_new) return {};
    ++frame.count;
    ++entries_;
    return {};
}

Result<> SpillTable::erase(const sys::EntryId& id) {
    if (is_empty()) return {};
    FB_TRY_ASSIGN(at, load(page_hash_of(id)));
    auto& frame = frames_[at];
    const auto index = index_of(frame, id);
    if (index == frame.count) return {};
    --frame.count;
    std::memmove(record(frame, index), record(frame, frame.count), record_bytes_);
    frame.is_changed = true;
    --entries_;
    return {};
}

// Splits a page in two by one more hash bit.
Result<> SpillTable::split(std::uint32_t at, std::uint64_t hash) {
    if (frames_[at].bits == bits_max) return Error{ErrorKind::full, "a table of a tree has more than 2^32 pages"};
    FB_TRY_ASSIGN(other_at, free_frame(at));
    auto &frame = frames_[at], &other = frames_[other_at];
    const auto step = std::size_t{1} << frame.bits;
    const auto count = std::exchange(frame.count, 0u);
    other.count = 0;
    other.bits = ++frame.bits;
    frame.is_changed = other.is_changed = true;
    for (std::size_t index = 0; index < count; ++index) {
        const auto* from = record(frame, index);
        const auto its_hash = page_hash_of({load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8)});
        auto& half = (its_hash & step) != 0 ? other : frame;
        std::memmove(record(half, half.count++), from, record_bytes_);
    }
    other.page = static_cast<std::uint32_t>(frame_of_.size());
    frame_of_.push_back(other_at);
    if (pages_.size() == step)
        pages_.insert(pages_.end(), pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(step));
    for (auto slot = (hash & (step - 1)) | step; slot < pages_.size(); slot += 2 * step) pages_[slot] = other.page;
    return {};
}

}  // namespace forebay::tree
