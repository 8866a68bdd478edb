// Which entries nobody has changed since the target's ones were made, as far as times of change say it.

#pragma once

#include <utility>

#include "transfer/copy/last_copy.hpp"

namespace forebay::tree {

class Freshness {
public:
    explicit Freshness(LastCopy last_copy = {}, Clocks clocks = {})
        : last_copy_(std::move(last_copy)), clocks_(clocks) {}

    /// Whether nobody has changed both since the last copy looked at their extended attributes; of the folder of an
    /// entry `dir_node`.
    bool is_untouched(const DirNode& dir_node, const sys::EntryStatus& source, const sys::EntryStatus& target) const;
    /// Of a branch that was entered: whether other entries may have come into it by renames.
    bool is_untouched(const DirNode& dir_node) const;
    /// Whether nothing of the source's entry was changed since the target's one was made or changed.
    bool is_older(const sys::EntryStatus& source, const sys::EntryStatus& target) const;
    bool source_may_be_older() const { return clocks_.source_may_be_older; }

private:
    const LastCopy last_copy_;
    const Clocks clocks_;
};

}  // namespace forebay::tree
