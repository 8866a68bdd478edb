// What a mover knows of inodes: the first ones in memory, all others in a spill file.
//
// Threads: one at a time.

#pragma once

#include <optional>
#include <type_traits>
#include <unordered_map>

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
    explicit InodeMap(std::size_t memory_max = TableLimits{}.inodes) : memory_max_(memory_max) {}

    Result<std::optional<Value>> find(const sys::EntryId& id) {
        if (const auto held = held_.find(id); held != held_.end()) return std::optional(held->second);
        Value value;
        FB_TRY_ASSIGN(is_there, spilled_.find(id, std::as_writable_bytes(std::span(&value, 1))));
        return is_there ? std::optional(value) : std::nullopt;
    }

    /// Replaces the one that is there.
    Result<> put(const sys::EntryId& id, const Value& value) {
        if (const auto held = held_.find(id); held != held_.end()) {
            held->second = value;
            return {};
        }
        FB_TRY_ASSIGN(known, find(id));
        if (!known && held_.size() < memory_max_) {
            held_.emplace(id, value);
            return {};
        }
        return spilled_.put(id, std::as_bytes(std::span(&value, 1)));
    }

    Result<> erase(const sys::EntryId& id) { return held_.erase(id) > 0 ? Result<>() : spilled_.erase(id); }

    /// The value of `id`: the one that is there, or else this one from now on.
    Result<Value> get_or_put(const sys::EntryId& id, const Value& value) {
        FB_TRY_ASSIGN(known, find(id));
        if (known) return *known;
        FB_TRY(put(id, value));
        return value;
    }

    bool has_spilled() const { return !spilled_.is_empty(); }

private:
    const std::size_t memory_max_;
    std::unordered_map<sys::EntryId, Value, EntryIdHash> held_;
    SpillTable spilled_{sizeof(Value)};
};

}  // namespace forebay::tree
