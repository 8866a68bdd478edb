// Where a tree lies: a path of this machine, or an address of something that is no file system.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sys/far_module.hpp"
#include "sys/tree.hpp"

namespace forebay::sys {

/// The root of a tree by its address. `unsupported` where this build has no module for it.
Result<std::unique_ptr<Folder>> open_tree(const std::string& address);
/// The folder in which something is to be made or removed: it need not be there where folders come with what is in
/// them.
Result<std::unique_ptr<Folder>> open_tree_above(const std::string& address);

/// What a module is asked for, and what it gives.
struct FarPlace {
    std::string address;
    bool must_exist = true;
    NewEntryOwner owner;
};
using OpenedPlace = Result<std::unique_ptr<Folder>>;

}  // namespace forebay::sys
