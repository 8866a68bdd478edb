// A folder of a tree that is reached from the one above it, since it is to be made or removed.

#pragma once

#include <string>
#include <string_view>

#include "core/sys/tree.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

struct NamedRoot {
    FolderRef above;
    std::string name;
};

/// `refused` where a path does not end with the folder's own name. The path is not put together anew: behind a link
/// ".." leads elsewhere than its text says.
Result<NamedRoot> open_above(const std::string& path);
/// The same of what is to be made: the error says that it cannot be.
Result<NamedRoot> open_above_new(const std::string& path);

/// Of all movers' temporary names.
inline constexpr std::string_view any_temporary = ".fb-";
/// What those of one mover begin with: the same whenever the same two places are named, by whatever way there.
std::string places_of(const std::string& source, const std::string& target);
std::string temporary_prefix(const std::string& source, const std::string& target);

}  // namespace forebay::tree
