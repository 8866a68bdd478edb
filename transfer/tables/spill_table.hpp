// Values of one size under inodes: extendible hashing (Fagin and others, 1979). Pages of 4 KiB hold the entries whose
// hashes end with the same bits; one that is full becomes two. As many pages as fit are in memory, and cost no call.
// The others are in a spill file: who looks for an entry there reads its page, and writes the page that makes room if
// that was changed. Beside the pages their numbers are in memory: 13 to 22 MB for 100 million entries.
//
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/sys/tree.hpp"
#include "transfer/tables/spill_file.hpp"

namespace forebay::tree {

class SpillTable {
public:
    /// `memory_bytes`: of pages, two at least.
    SpillTable(std::size_t value_bytes, std::size_t memory_bytes);

    /// Whether there is one; `value` gets it.
    Result<bool> find(const sys::EntryId& id, std::span<std::byte> value);
    /// Whether there is one in memory: no call is made for it.
    bool holds(const sys::EntryId& id) const;
    /// Replaces the one that is there.
    Result<> put(const sys::EntryId& id, std::span<const std::byte> value);
    Result<> erase(const sys::EntryId& id);
    bool is_empty() const { return entries_ == 0; }

private:
    /// A page in memory.
    struct Frame {
        std::uint32_t page = 0, count = 0, bits = 0;  // how many entries, and in how many bits their hashes are alike
        bool is_changed = false;                      // the file has not what it holds
        std::unique_ptr<std::byte[]> bytes{};
    };

    Result<std::uint32_t> load(std::uint64_t hash);
    Result<std::uint32_t> free_frame(std::uint32_t kept);
    Result<> split(std::uint32_t frame, std::uint64_t hash);
    std::byte* record(const Frame& frame, std::size_t index) const;
    std::size_t index_of(const Frame& frame, const sys::EntryId& id) const;

    const std::size_t record_bytes_, records_max_, frames_max_;
    SpillFile file_;
    std::uint64_t entries_ = 0;
    std::vector<std::uint32_t> pages_;     // by the last bits of a hash: the number of its page
    std::vector<std::uint32_t> frame_of_;  // by the number of a page: where it is in memory
    std::vector<Frame> frames_;
    std::uint32_t next_out_ = 0;  // the frame that makes room next: hashes make all alike
};

}  // namespace forebay::tree
