// Checks that a source closed to its users is unchanged: one walk that reads no file, and a sum of each entry's status.
// It includes the ctime, which no user can set.

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
    std::uint64_t digest = 0;   // equal for equal entries in any order
    sys::FileTime newest_change;
    friend bool operator==(const Frozen&, const Frozen&) = default;
};

struct FrozenWalk {
    std::uint32_t threads = 1;
    tree::EntryFilter filter{};
    bool one_file_system = false;
    std::function<Result<>()> go_on{};  // its error ends the walk
};

/// A file with several names. Removing a name changes its ctime, so the other fields must show a change by somebody
/// else.
struct FrozenLinked {
    std::uint64_t number = 0, digest = 0;
    friend auto operator<=>(const FrozenLinked&, const FrozenLinked&) = default;
};

/// Inodes whose ctime a removal changes, sorted by number.
struct FrozenInodes {
    std::vector<FrozenLinked> linked;
    std::vector<std::uint64_t> folders;
    friend bool operator==(const FrozenInodes&, const FrozenInodes&) = default;
};

/// Fills `inodes` if given. `newest_path` gets the path of the entry with the last change.
Result<Frozen> frozen_now(const std::string& source, const FrozenWalk& walk, FrozenInodes* inodes = nullptr,
                          std::string* newest_path = nullptr);

/// Text of inodes in the file STATE/NAME.links; docs/formats/migrate.md.
std::string text_of(const FrozenInodes& inodes);
/// Returns `corrupt` for an invalid or cut text.
Result<FrozenInodes> inodes_from(std::string_view text, const std::string& path);

/// For a partly removed source: the path of an entry that somebody changed or added since the freeze; empty if there is
/// none. A directory that was moved in brings unchanged entries. It is detected by its inode, missing in `inodes`.
Result<std::string> changed_while_removed(const std::string& source, const Frozen& frozen, const FrozenWalk& walk,
                                          const FrozenInodes& inodes);

}  // namespace forebay::migrate
