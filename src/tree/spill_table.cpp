#include "tree/spill_table.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "base/siphash.hpp"
#include "base/try.hpp"

namespace forebay::tree {

namespace {

constexpr std::size_t page_bytes = 4096;
// Of a page: how many entries it has, and in how many bits their hashes are alike.
constexpr std::size_t page_head_bytes = 8, key_bytes = 16;
// 2^32 pages are 16 TiB.
constexpr std::uint32_t bits_max = 32;

std::uint64_t page_hash_of(const sys::EntryId& id) {
    std::byte key[key_bytes];
    store_le(key, id.device);
    store_le(key + 8, id.number);
    return siphash({}, key);
}

}  // namespace

SpillTable::SpillTable(std::size_t value_bytes)
    : record_bytes_(key_bytes + value_bytes), records_max_((page_bytes - page_head_bytes) / record_bytes_) {}

std::byte* SpillTable::record(std::size_t index) { return page_.data() + page_head_bytes + index * record_bytes_; }

Result<> SpillTable::load(std::uint64_t hash) {
    if (pages_.empty()) {
        page_.assign(page_bytes, std::byte{0});
        page_number_ = 0;
        FB_TRY(store());
        pages_ = {0};
        page_count_ = 1;
    }
    const auto number = pages_[hash & (pages_.size() - 1)];
    if (number == page_number_) return {};
    page_number_ = UINT32_MAX;  // where it cannot be read
    FB_TRY(file_.read(std::uint64_t{number} * page_bytes, page_));
    page_number_ = number;
    count_ = load_le<std::uint32_t>(page_.data());
    bits_ = load_le<std::uint32_t>(page_.data() + 4);
    return {};
}

// Where it cannot be written, what the file has of it counts.
Result<> SpillTable::store() {
    store_le(page_.data(), count_);
    store_le(page_.data() + 4, bits_);
    const auto written = file_.write(std::uint64_t{page_number_} * page_bytes, page_);
    if (!written) page_number_ = UINT32_MAX;
    return written;
}

std::size_t SpillTable::index_of(const sys::EntryId& id) {
    std::size_t index = 0;
    while (index < count_ && !(load_le<std::uint64_t>(record(index)) == id.device &&
                               load_le<std::uint64_t>(record(index) + 8) == id.number))
        ++index;
    return index;
}

Result<bool> SpillTable::find(const sys::EntryId& id, std::span<std::byte> value) {
    if (is_empty()) return false;
    FB_TRY(load(page_hash_of(id)));
    const auto index = index_of(id);
    if (index == count_) return false;
    std::copy_n(record(index) + key_bytes, value.size(), value.begin());
    return true;
}

Result<> SpillTable::put(const sys::EntryId& id, std::span<const std::byte> value) {
    const auto hash = page_hash_of(id);
    FB_TRY(load(hash));
    auto index = index_of(id);
    const bool is_new = index == count_;
    while (is_new && count_ == records_max_) {
        FB_TRY(split(hash));
        FB_TRY(load(hash));
        index = count_;
    }
    if (is_new) ++count_;
    store_le(record(index), id.device);
    store_le(record(index) + 8, id.number);
    std::ranges::copy(value, record(index) + key_bytes);
    FB_TRY(store());
    if (is_new) ++entries_;
    return {};
}

Result<> SpillTable::erase(const sys::EntryId& id) {
    if (is_empty()) return {};
    FB_TRY(load(page_hash_of(id)));
    const auto index = index_of(id);
    if (index == count_) return {};
    --count_;
    std::memmove(record(index), record(count_), record_bytes_);
    FB_TRY(store());
    --entries_;
    return {};
}

// The page that is loaded becomes two, by one more bit. The new one is written first: until the other one is, too, both
// have all entries.
Result<> SpillTable::split(std::uint64_t hash) {
    if (bits_ == bits_max) return Error{ErrorKind::full, "a table of a tree has more than 2^32 pages"};
    const auto step = std::size_t{1} << bits_;
    const auto old_page = page_;
    const auto old_number = page_number_, old_count = count_, bits = bits_ + 1;
    const auto write_half = [&](std::uint32_t number, bool has_bit) {
        count_ = 0;
        bits_ = bits;
        page_number_ = number;
        for (std::size_t index = 0; index < old_count; ++index) {
            const auto* from = old_page.data() + page_head_bytes + index * record_bytes_;
            const auto its_hash = page_hash_of({load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8)});
            if (((its_hash & step) != 0) == has_bit) std::copy_n(from, record_bytes_, record(count_++));
        }
        return store();
    };
    FB_TRY(write_half(page_count_, true));
    FB_TRY(write_half(old_number, false));
    if (pages_.size() == step)
        pages_.insert(pages_.end(), pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(step));
    for (auto at = (hash & (step - 1)) | step; at < pages_.size(); at += 2 * step) pages_[at] = page_count_;
    ++page_count_;
    return {};
}

}  // namespace forebay::tree
