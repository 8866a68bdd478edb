// The place of a tree: a path of this machine, or an address outside file systems.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/sys/far_module.hpp"
#include "core/sys/tree.hpp"

namespace forebay::sys {

/// The place of a tree that a user gave.
struct FoundTree {
    std::string place;  // a path, or an address outside file systems
    std::string note;   // for people, if the place is not the given one
};
/// Reaches a DAOS container by libdfs if this build has the module, else through a mount of dfuse. A path that stands
/// for a container, and missing paths below it, are places in that container.
Result<FoundTree> find_tree(const std::string& named);

/// Opens the root of a tree by a place of find_tree(). `unsupported` if this build lacks the module.
Result<std::unique_ptr<Folder>> open_tree(const std::string& address);
/// Opens a directory to make or remove something in it. In stores without empty directories it need not exist.
Result<std::unique_ptr<Folder>> open_tree_above(const std::string& address);

/// True if this build reaches such addresses.
bool has_module_for(std::string_view address);
/// Makes the container of a DAOS address if it is missing, as sys::daos_create_command() does.
Result<> make_container(const std::string& address);

/// The request to a module, and its result.
struct FarPlace {
    std::string address;
    bool must_exist = true;
    NewEntryOwner owner;
    bool makes_container = false;  // DAOS only: makes a missing container, and opens its root
};
using OpenedPlace = Result<std::unique_ptr<Folder>>;

/// The end of an error's text if a server failed each time, or is no longer asked.
inline constexpr std::string_view given_up = ": given up";

/// An errno of a library as an Error, in the form of sys: "dfs_open: NAME: File exists".
Error error_of_number(std::string_view call, std::string_view name, int number);

}  // namespace forebay::sys
