// Where a tree lies: a path of this machine, or an address of something that is no file system.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/sys/far_module.hpp"
#include "core/sys/tree.hpp"

namespace forebay::sys {

/// Where a tree lies that somebody has named.
struct FoundTree {
    std::string place;  // a path, or the address of something that is no file system
    std::string note;   // for people, where the place is another than the one that was named
};
/// A container of DAOS is reached by libdfs where this build has the module for it, else where dfuse shows it. A path
/// that stands for a container, and what is not there below one, is a place in that container.
Result<FoundTree> find_tree(const std::string& named);

/// The root of a tree by the place that find_tree() gives. `unsupported` where this build has no module for it.
Result<std::unique_ptr<Folder>> open_tree(const std::string& address);
/// The folder in which something is to be made or removed: it need not be there where folders come with what is in
/// them.
Result<std::unique_ptr<Folder>> open_tree_above(const std::string& address);

/// Whether this build reaches such addresses.
bool has_module_for(std::string_view address);
/// Makes the container of an address of DAOS where it is not there, as sys::daos_create_command() does.
Result<> make_container(const std::string& address);

/// What a module is asked for, and what it gives.
struct FarPlace {
    std::string address;
    bool must_exist = true;
    NewEntryOwner owner;
    bool makes_container = false;  // of DAOS, where it is not there; its root is what is opened then
};
using OpenedPlace = Result<std::unique_ptr<Folder>>;

/// What the text of an error ends with where a server failed each time that it was asked, or is not asked any more.
inline constexpr std::string_view given_up = ": given up";

/// What a library has told by one of the system's numbers (errno), as sys tells its own: "dfs_open: NAME: File exists".
Error error_of_number(std::string_view call, std::string_view name, int number);

}  // namespace forebay::sys
