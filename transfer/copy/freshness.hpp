// Finds entries that did not change since their copy was made, as far as ctimes show it.

#pragma once

#include <utility>

#include "transfer/copy/last_copy.hpp"

namespace forebay::tree {

class Freshness {
public:
    explicit Freshness(LastCopy last_copy = {}, Clocks clocks = {})
        : last_copy_(std::move(last_copy)), clocks_(clocks) {}

    /// True if neither entry has changed since the last copy compared their extended attributes. `dir_node` is their
    /// directory.
    bool is_untouched(const DirNode& dir_node, const sys::EntryStatus& source, const sys::EntryStatus& target) const;
    /// For an entered directory: false if other entries may have come into it by renames.
    bool is_untouched(const DirNode& dir_node) const;
    /// True if the source's entry has not changed since the target's entry was made or changed.
    bool is_older(const sys::EntryStatus& source, const sys::EntryStatus& target) const;
    bool source_may_be_older() const { return clocks_.source_may_be_older; }

private:
    const LastCopy last_copy_;
    const Clocks clocks_;
};

}  // namespace forebay::tree
