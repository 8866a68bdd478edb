// Which entries of a tree are meant, by patterns.

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

/// How many entries fitted each pattern; no more are counted where the first one is known. Threads: any.
using PatternUse = std::vector<std::atomic<std::uint64_t>>;

struct EntryFilter {
    /// A pattern with a slash is compared with the path below the root, any other with the name; '*' stands for any
    /// text, slashes too. What is excluded is not looked into. With patterns to include, only entries that fit one are
    /// taken, of those that are no folders. Of a pattern that begins with a slash, which check_pattern() refuses users,
    /// '*' stands for no slash: "/*/a" is "x/a" and not "x/y/a".
    std::vector<std::string> include, exclude;
    /// Of those to include, then of the others; null, or shorter than these: it is not asked for.
    std::shared_ptr<PatternUse> use{};

    /// Has uses counted of the patterns that there are now; processes of a team count the same ones.
    void count_uses() { use = std::make_shared<PatternUse>(include.size() + exclude.size()); }
    std::vector<std::atomic<std::uint64_t>*> uses() const;
    bool is_empty() const { return include.empty() && exclude.empty(); }
    bool takes(const DirNode& dir_node, const std::string& name, sys::EntryKind kind) const;
    /// The same of a path, with the folders that it goes through.
    bool takes(const std::string& path, sys::EntryKind kind) const;
};

/// `refused` for a pattern that fits no entry, since paths begin below the root and end with a name: "/a", "./a", "a/".
Result<> check_pattern(const std::string& pattern);

}  // namespace forebay::tree
