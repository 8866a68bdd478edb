// Values of one size by inode: extendible hashing (Fagin and others, 1979). A page of 4 KiB holds the entries whose
// hashes end with the same bits. A full page is split in two. Pages stay in memory up to the limit and cost no call;
// the rest is in a spill file. A lookup there reads the page, and writes the page that it displaces if that page was
// changed. The page numbers also stay in memory: 13 to 22 MB for 100 million entries.
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
    /// `memory_bytes` is the room for pages, at least two.
    SpillTable(std::size_t value_bytes, std::size_t memory_bytes);

    /// Returns true and fills `value` if there is an entry.
    Result<bool> find(const sys::EntryId& id, std::span<std::byte> value);
    /// True if there is an entry in memory. Makes no system call.
    bool holds(const sys::EntryId& id) const;
    /// Replaces an existing value.
    Result<> put(const sys::EntryId& id, std::span<const std::byte> value);
    Result<> erase(const sys::EntryId& id);
    bool is_empty() const { return entries_ == 0; }

private:
    /// A page in memory.
    struct Frame {
        std::uint32_t page = 0, count = 0, bits = 0;  // number of entries, and of equal last bits of their hashes
        bool is_changed = false;                      // differs from the file
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
    std::vector<std::uint32_t> pages_;     // page number by the last bits of a hash
    std::vector<std::uint32_t> frame_of_;  // frame by page number
    std::vector<Frame> frames_;
    std::uint32_t next_out_ = 0;  // the next frame to reuse; hashes spread over all pages alike
};

}  // namespace forebay::tree
