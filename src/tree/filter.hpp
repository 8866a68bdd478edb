// Which entries of a tree are meant: patterns, and a list of paths.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"
#include "sys/tree.hpp"
#include "tree/branch.hpp"

namespace forebay::tree {

/// Paths of a list, by their names: what is asked for in a folder.
struct WishedNames {
    std::map<std::string, WishedNames, std::less<>> below;
    bool is_whole = false;  // the path ends here: all that is below it too
};

/// One path a line, or with `by_nul` one before each zero byte, so that names may hold line ends. Empty lines and "./"
/// in front mean nothing; `refused` for paths that begin with a slash or lead upwards.
Result<WishedNames> wished_names(std::string_view list, bool by_nul);

/// How many entries fitted each pattern; no more are counted where the first one is known. Threads: any.
using PatternUse = std::array<std::atomic<std::uint64_t>, 64>;

struct EntryFilter {
    /// A pattern with a slash is compared with the path below the root, any other with the name; '*' stands for any
    /// text, slashes too. What is excluded is not looked into. With patterns to include, only entries that fit one are
    /// taken, of those that are no folders.
    std::vector<std::string> include, exclude;
    std::shared_ptr<PatternUse> use{};  // of those to include, then of the others; null: it is not asked for

    /// Where the uses of all patterns are, of those that are counted.
    std::vector<std::atomic<std::uint64_t>*> uses() const;
    bool is_empty() const { return include.empty() && exclude.empty(); }
    bool takes(const Branch& branch, const std::string& name, sys::EntryKind kind) const;
    /// The same of a path, with the folders that it goes through.
    bool takes(const std::string& path, sys::EntryKind kind) const;
};

/// `refused` for a pattern that fits no entry, since paths begin below the root and end with a name: "/a", "./a", "a/".
Result<> check_pattern(const std::string& pattern);

}  // namespace forebay::tree
