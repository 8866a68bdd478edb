// Whether a source that was closed to its users is still what it was: one walk that reads no file, and a sum of what it
// sees of each entry. The time of its last change is in it, which no user can set.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"
#include "sys/tree.hpp"
#include "tree/filter.hpp"

namespace forebay::migrate {

struct Frozen {
    std::uint64_t entries = 0;  // with the root
    std::uint64_t digest = 0;   // the same for the same entries in any order
    sys::FileTime newest_change;
    friend bool operator==(const Frozen&, const Frozen&) = default;
};

struct FrozenWalk {
    std::uint32_t threads = 1;
    tree::EntryFilter filter{};
    bool one_file_system = false;
    std::function<Result<>()> go_on{};  // its error ends the walk
};

/// `linked`, where it is given, gets the inodes of entries with several names, sorted.
Result<Frozen> frozen_now(const std::string& source, const FrozenWalk& walk,
                          std::vector<std::uint64_t>* linked = nullptr);

/// What frozen_now() has given as `linked`, as the file STATE/NAME.links has it; docs/formats/migrate.md.
std::string linked_text(const std::vector<std::uint64_t>& linked);
/// `corrupt` for what is no such text, or one whose end is missing.
Result<std::vector<std::uint64_t>> linked_from(std::string_view text, const std::string& path);

/// Of a source that is partly removed: the path of an entry, no folder, that somebody has changed or added since it was
/// frozen; empty where there is none. A removal marks the other names of an inode as changed: those are `linked`.
Result<std::string> changed_while_removed(const std::string& source, const Frozen& frozen, const FrozenWalk& walk,
                                          const std::vector<std::uint64_t>& linked);

}  // namespace forebay::migrate
