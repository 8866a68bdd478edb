// Checks the places given to a verb before any is opened, with better errors than the system's: they name the argument
// and the right kind of place. A place that cannot be checked is left to the opening.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "forebay/result.hpp"
#include "transfer/walk/filter.hpp"

namespace forebay::cli {

/// For a place to be read. `missing` names the missing part of the path. `refused` names the wrong kind: not a
/// directory, or also not a file if `takes_file`. Addresses pass.
Result<> check_tree(std::string_view word, const std::string& place, bool takes_file);
/// For a place to be removed: a symbolic link exists, whatever it names.
Result<> check_present(const std::string& place);
/// For the copy of a directory: it may be missing.
Result<> check_target(const std::string& place);
/// For a list of paths below `source`.
Result<> check_path_list(const std::string& list, const std::string& source, const std::string& target);

/// A file that a verb writes or reads beside its trees: "--report", PATH. There is no file if the path is empty.
struct SideFile {
    const char* option;
    const std::string& path;
    bool may_lie_in_tree = false;
};
/// Returns `refused` if two files are one, or if a file lies in a tree that the verb reads, changes or removes. An
/// excluded file is allowed; its temporary name is then excluded, too. `filter` is null if the verb has no patterns.
Result<> check_side_files(std::initializer_list<SideFile> files, std::initializer_list<std::string_view> trees,
                          tree::EntryFilter* filter);

}  // namespace forebay::cli
