// What is wrong with the places that a verb of trees was given, said before any is opened: what they are, and what to
// give instead. The system's own errors would name neither. What cannot be looked at is left to the opening.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "forebay/result.hpp"
#include "transfer/walk/filter.hpp"

namespace forebay::cli {

/// Of what is to be read: `missing` names the part of the path that is not there, `refused` what it is instead of a
/// directory or, where the verb takes one, a file. Addresses pass.
Result<> check_tree(std::string_view word, const std::string& place, bool takes_file);
/// Of what is to be removed: a link is there, whatever it names.
Result<> check_present(const std::string& place);
/// Of what is to become the copy of a directory: it may be missing.
Result<> check_target(const std::string& place);
/// Of a list of paths below `source`.
Result<> check_path_list(const std::string& list, const std::string& source, const std::string& target);

/// A file that a verb writes or reads beside its trees: "--report", PATH. None where the path is empty.
struct SideFile {
    const char* option;
    const std::string& path;
    bool may_lie_in_tree = false;
};
/// `refused` where one lies in a tree that the verb reads, changes or removes, unless the filter leaves it out, which
/// then also leaves out the name that it has until it is whole; and where two are one file. No filter: the verb has no
/// patterns.
Result<> check_side_files(std::initializer_list<SideFile> files, std::initializer_list<std::string_view> trees,
                          tree::EntryFilter* filter);

}  // namespace forebay::cli
