#include "sys/tree_place.hpp"

#include "base/try.hpp"
#include "sys/far_module.hpp"

namespace forebay::sys {

namespace {

using OpenFarPlace = void (*)(const FarPlace& place, OpenedPlace& opened);

Result<std::unique_ptr<Folder>> open_far(const std::string& address, bool must_exist) {
    FB_TRY_ASSIGN(entry, far_function("forebay_open_far_place"));
    OpenedPlace opened = Error{ErrorKind::broken, "the module of S3 gave no answer"};
    reinterpret_cast<OpenFarPlace>(entry)({.address = address, .must_exist = must_exist, .owner = new_entry_owner()},
                                          opened);
    return opened;
}

}  // namespace

Result<std::unique_ptr<Folder>> open_tree(const std::string& address) {
    return is_far(address) ? open_far(address, true) : open_posix_folder(address);
}

Result<std::unique_ptr<Folder>> open_tree_above(const std::string& address) {
    return is_far(address) ? open_far(address, false) : open_posix_folder(address);
}

}  // namespace forebay::sys
