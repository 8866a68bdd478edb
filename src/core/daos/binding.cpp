// The entry points of this module. sys/posix_tree_place.cpp and sys/target_store.cpp call them for addresses that begin
// with daos://.

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/daos/folder.hpp"
#include "core/daos/store.hpp"
#include "core/sys/target_store.hpp"
#include "core/sys/tree_place.hpp"

namespace {

using namespace forebay;

Result<std::unique_ptr<sys::Folder>> open_address(const sys::FarPlace& place) {
    FB_TRY_ASSIGN(parsed, sys::daos_place_from(place.address));
    const auto container = std::make_shared<daos::DfsContainer>(parsed, place.owner);
    FB_TRY(container->connect(place.makes_container));
    auto opened = daos::open_dfs_folder(container, place.makes_container ? "" : parsed.path);
    if (!opened) return with_context(opened.error(), show_text(parsed.address()) + ": " + opened.error().what);
    return opened;
}

Result<std::unique_ptr<sys::Store>> open_store(const std::string& address) {
    FB_TRY_ASSIGN(parsed, sys::daos_place_from(address));
    auto container = std::make_shared<daos::DfsContainer>(parsed, sys::new_entry_owner());
    FB_TRY(container->connect(false));
    return std::unique_ptr<sys::Store>(std::make_unique<daos::DfsStore>(std::move(container)));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void forebay_open_far_place(const forebay::sys::FarPlace& place,
                                                                              forebay::sys::OpenedPlace& opened) {
    opened = open_address(place);
}

extern "C" __attribute__((visibility("default"))) void forebay_open_far_store(const std::string& address,
                                                                              forebay::sys::OpenedStore& opened) {
    opened = open_store(address);
}
