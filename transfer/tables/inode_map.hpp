// A map of inodes, in memory up to a limit and then in a spill file.
//
// Threads: one at a time.

#pragma once

#include <array>
#include <optional>
#include <span>
#include <type_traits>

#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "transfer/tables/spill_table.hpp"
#include "transfer/tables/table_limits.hpp"

namespace forebay::tree {

struct EntryIdHash {
    std::size_t operator()(const sys::EntryId& id) const { return id.number * 0x9e37'79b9'7f4a'7c15u ^ id.device; }
};

/// Distinguishes an inode from a later inode with the same number: by its creation time if the file system has it,
/// otherwise by size and modification time.
inline std::uint64_t proof_of(const sys::EntryStatus& status, bool by_birth = true) {
    by_birth = by_birth && status.born != sys::FileTime{};
    const auto& time = by_birth ? status.born : status.modified;
    const std::array<std::uint64_t, 4> numbers{static_cast<std::uint64_t>(status.kind), by_birth ? 0 : status.bytes,
                                               static_cast<std::uint64_t>(time.seconds), time.nanoseconds};
    return siphash({}, std::as_bytes(std::span(numbers)));
}

template <class Value>
class InodeMap {
    static_assert(std::is_trivially_copyable_v<Value>);

public:
    explicit InodeMap(std::size_t memory_bytes = TableLimits{}.inode_bytes) : table_(sizeof(Value), memory_bytes) {}

    Result<std::optional<Value>> find(const sys::EntryId& id) {
        Value value;
        FB_TRY_ASSIGN(is_there, table_.find(id, std::as_writable_bytes(std::span(&value, 1))));
        return is_there ? std::optional(value) : std::nullopt;
    }
    /// True if it is there and in memory. Never reads the file.
    bool holds(const sys::EntryId& id) const { return table_.holds(id); }

    /// Replaces an existing value.
    Result<> put(const sys::EntryId& id, const Value& value) {
        return table_.put(id, std::as_bytes(std::span(&value, 1)));
    }
    Result<> erase(const sys::EntryId& id) { return table_.erase(id); }

    /// The value of `id`. If there is none, stores and returns `value`.
    Result<Value> get_or_put(const sys::EntryId& id, const Value& value) {
        FB_TRY_ASSIGN(known, find(id));
        if (known) return *known;
        FB_TRY(put(id, value));
        return value;
    }

    bool is_empty() const { return table_.is_empty(); }

private:
    SpillTable table_;
};

}  // namespace forebay::tree
