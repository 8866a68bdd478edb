// Whether a source that was closed to its users is still what it was: one walk that reads no file, and a sum of what it
// sees of each entry. The time of its last change is in it, which no user can set.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sys/tree.hpp"
#include "forebay/result.hpp"
#include "transfer/walk/filter.hpp"

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

/// A file of several names: the removal of a name changes the time of its last change, so that other fields must tell
/// whether somebody else has changed it.
struct FrozenLinked {
    std::uint64_t number = 0, digest = 0;
    friend auto operator<=>(const FrozenLinked&, const FrozenLinked&) = default;
};

/// Inodes, sorted by number, of which a removal changes the time of the last change.
struct FrozenInodes {
    std::vector<FrozenLinked> linked;
    std::vector<std::uint64_t> folders;
    friend bool operator==(const FrozenInodes&, const FrozenInodes&) = default;
};

/// `inodes`, where they are given, are filled; `newest_path` gets the path of an entry that was changed last.
Result<Frozen> frozen_now(const std::string& source, const FrozenWalk& walk, FrozenInodes* inodes = nullptr,
                          std::string* newest_path = nullptr);

/// Inodes as the file STATE/NAME.links has them; docs/formats/migrate.md.
std::string text_of(const FrozenInodes& inodes);
/// `corrupt` for what is no such text, or one whose end is missing.
Result<FrozenInodes> inodes_from(std::string_view text, const std::string& path);

/// Of a source that is partly removed: the path of an entry that somebody has changed or added since it was frozen;
/// empty where there is none. A folder that was moved there brings entries which nobody has changed since: it is known
/// by its inode, which is none of `inodes`.
Result<std::string> changed_while_removed(const std::string& source, const Frozen& frozen, const FrozenWalk& walk,
                                          const FrozenInodes& inodes);

}  // namespace forebay::migrate
