#include "transfer/copy/freshness.hpp"

#include "core/sys/clock.hpp"

namespace forebay::tree {

bool Freshness::is_untouched(const DirNode& dir_node, const sys::EntryStatus& source,
                             const sys::EntryStatus& target) const {
    const auto& since = last_copy_.untouched();
    return since && dir_node.seen.is_untouched && is_before(source.changed, since->entries[0]) &&
           is_before(target.changed, since->entries[1]);
}

bool Freshness::is_untouched(const DirNode& dir_node) const {
    const auto& since = last_copy_.untouched();
    if (!since || !dir_node.parent) return since.has_value();     // the root is identified by its inode
    for (const auto side : {TreeSide::source, TreeSide::target})  // another file system may be mounted there each time
        if (is_other_file_system(dir_node.status(side), dir_node.parent->status(side).id.device)) return false;
    return dir_node.parent->seen.is_untouched &&
           is_before(dir_node.status(TreeSide::source).changed, since->entries[0]) &&
           is_before(dir_node.status(TreeSide::target).changed, since->target_folders);
}

bool Freshness::is_older(const sys::EntryStatus& source, const sys::EntryStatus& target) const {
    auto changed = source.changed;
    changed.seconds += clocks_.margin_seconds;
    // A time ahead of now comes from a clock that was set back since.
    constexpr std::int64_t ns_per_second = 1'000'000'000;
    const auto latest = sys::unix_ns() / ns_per_second + clocks_.margin_seconds;
    return is_before(changed, target.changed) && target.changed.seconds <= latest;
}

}  // namespace forebay::tree
