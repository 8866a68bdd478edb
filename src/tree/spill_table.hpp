// Values of one size under inodes, in a spill file: extendible hashing (Fagin and others, 1979). Pages of 4 KiB hold
// the entries whose hashes end with the same bits; one that is full becomes two. In memory are the numbers of the
// pages: 8 to 16 MB for 100 million entries. A look-up reads a page, a change writes it.
//
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sys/tree.hpp"
#include "tree/spill_file.hpp"

namespace forebay::tree {

class SpillTable {
public:
    explicit SpillTable(std::size_t value_bytes);

    /// Whether there is one; `value` gets it.
    Result<bool> find(const sys::EntryId& id, std::span<std::byte> value);
    /// Replaces the one that is there.
    Result<> put(const sys::EntryId& id, std::span<const std::byte> value);
    Result<> erase(const sys::EntryId& id);
    bool is_empty() const { return entries_ == 0; }

private:
    Result<> load(std::uint64_t hash);
    Result<> store();
    Result<> split(std::uint64_t hash);
    std::byte* record(std::size_t index);
    std::size_t index_of(const sys::EntryId& id);

    const std::size_t record_bytes_, records_max_;
    SpillFile file_;
    std::uint64_t entries_ = 0;
    std::vector<std::uint32_t> pages_;  // by the last bits of a hash: the number of its page
    std::uint32_t page_count_ = 0;
    std::vector<std::byte> page_;  // the one that was looked at last
    std::uint32_t page_number_ = 0, count_ = 0, bits_ = 0;
};

}  // namespace forebay::tree
