// What a mover knows of inodes, in memory and beyond in a spill file.
//
// Threads: one at a time.

#pragma once

#include <optional>
#include <type_traits>

#include "base/try.hpp"
#include "tree/spill_table.hpp"
#include "tree/table_limits.hpp"

namespace forebay::tree {

struct EntryIdHash {
    std::size_t operator()(const sys::EntryId& id) const { return id.number * 0x9e37'79b9'7f4a'7c15u ^ id.device; }
};

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
    /// Whether it is there and in memory: a look that never costs a read.
    bool holds(const sys::EntryId& id) const { return table_.holds(id); }

    /// Replaces the one that is there.
    Result<> put(const sys::EntryId& id, const Value& value) {
        return table_.put(id, std::as_bytes(std::span(&value, 1)));
    }
    Result<> erase(const sys::EntryId& id) { return table_.erase(id); }

    /// The value of `id`: the one that is there, or else this one from now on.
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
