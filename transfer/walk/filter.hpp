// Chooses entries of a tree by patterns.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/sys/tree.hpp"
#include "forebay/result.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

/// Matches of each pattern. Once a pattern matches, later matches may not be counted. Threads: any.
using PatternUse = std::vector<std::atomic<std::uint64_t>>;

struct EntryFilter {
    /// A pattern with a slash is compared with the path below the root, any other pattern with the name. '*' matches
    /// any text, slashes too. An excluded directory is not entered. If there are include patterns, only files that
    /// match one are chosen. check_pattern() refuses users a leading slash. After a leading slash '*' matches no slash:
    /// "/*/a" matches "x/a", not "x/y/a".
    std::vector<std::string> include, exclude;
    /// One counter for each include pattern, then for each exclude pattern. Null or shorter: nothing is counted there.
    std::shared_ptr<PatternUse> use{};

    /// Counts uses of the present patterns. All processes of a group count the same patterns.
    void count_uses() { use = std::make_shared<PatternUse>(include.size() + exclude.size()); }
    std::vector<std::atomic<std::uint64_t>*> uses() const;
    bool is_empty() const { return include.empty() && exclude.empty(); }
    bool takes(const DirNode& dir_node, const std::string& name, sys::EntryKind kind) const;
    /// The same for a path; also matches the directories on the way.
    bool takes(const std::string& path, sys::EntryKind kind) const;
};

/// Returns `refused` for a pattern that cannot match, such as "/a", "./a" and "a/": paths begin below the root and end
/// with a name.
Result<> check_pattern(const std::string& pattern);

}  // namespace forebay::tree
