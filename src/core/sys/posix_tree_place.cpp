#include "core/sys/tree_place.hpp"

#include "core/base/try.hpp"
#include "core/sys/daos_address.hpp"
#include "core/sys/far_module.hpp"

namespace forebay::sys {

namespace {

constexpr const char* place_function = "forebay_open_far_place";
using OpenFarPlace = void (*)(const FarPlace& place, OpenedPlace& opened);

Result<std::unique_ptr<Folder>> open_far(const FarPlace& place) {
    FB_TRY_ASSIGN(function, far_function(place.address, place_function));
    OpenedPlace opened = Error{ErrorKind::broken, "the module of " + place.address + " gave no answer"};
    reinterpret_cast<OpenFarPlace>(function)(place, opened);
    return opened;
}

}  // namespace

bool has_module_for(std::string_view address) { return far_function(address, place_function).has_value(); }

Result<> make_container(const std::string& address) {
    FB_TRY_ASSIGN(place, daos_place_from(address));
    const auto opened = open_far({.address = address, .owner = new_entry_owner(), .makes_container = true});
    if (opened) return {};
    const bool has_module = has_module_for(daos_scheme);
    return with_context(opened.error(), "its container was not made: " + opened.error().what, "",
                        has_module ? opened.error().next : daos_create_command(place, 0));
}

Result<std::unique_ptr<Folder>> open_tree(const std::string& address) {
    if (!is_far(address)) return open_posix_folder(address);
    return open_far({.address = address, .must_exist = true, .owner = new_entry_owner()});
}

Result<std::unique_ptr<Folder>> open_tree_above(const std::string& address) {
    if (!is_far(address)) return open_posix_folder(address);
    return open_far({.address = address, .must_exist = false, .owner = new_entry_owner()});
}

}  // namespace forebay::sys
