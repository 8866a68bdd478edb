// A root that is opened by its parent directory and its name, because it will be made or removed.

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

/// Returns `refused` if the path does not end with the directory's own name. The path is not normalized: behind a
/// symbolic link ".." leads to another place than the text says.
Result<NamedRoot> open_above(const std::string& path);
/// The same for a root that will be made: the error says that it cannot be made.
Result<NamedRoot> open_above_new(const std::string& path);

/// Prefix of the temporary names of all copies.
inline constexpr std::string_view any_temporary = ".fb-";
/// Both places in canonical form. temporary_prefix() of the same two places is the same for any spelling of their
/// paths.
std::string places_of(const std::string& source, const std::string& target);
std::string temporary_prefix(const std::string& source, const std::string& target);

}  // namespace forebay::tree
