// The entry points of this module. sys/posix_tree_place.cpp and sys/target_store.cpp call them for addresses that begin
// with s3://.

#include "core/base/try.hpp"
#include "core/s3/folder.hpp"
#include "core/s3/key.hpp"
#include "core/s3/object_store.hpp"
#include "core/sys/target_store.hpp"
#include "core/sys/tree_place.hpp"

namespace {

using namespace forebay;

Result<std::unique_ptr<sys::Folder>> open(const sys::FarPlace& place) {
    FB_TRY_ASSIGN(parsed, s3::place_from(place.address));
    FB_TRY_ASSIGN(settings, s3::settings_from(s3::own_surroundings()));
    const auto bucket = std::make_shared<s3::Bucket>(std::move(settings), parsed.bucket, place.owner);
    return s3::open_prefix(bucket, parsed.prefix,
                           place.must_exist ? s3::OpenPrefix::must_exist : s3::OpenPrefix::may_be_empty);
}

// keeps_asking: an agent waits for an unreachable server, as for any other target.
Result<std::unique_ptr<sys::Store>> open_store(const std::string& address) {
    FB_TRY_ASSIGN(parsed, s3::place_from(address));
    FB_TRY_ASSIGN(settings, s3::settings_from(s3::own_surroundings()));
    settings.keeps_asking = true;
    auto bucket = std::make_shared<s3::Bucket>(std::move(settings), parsed.bucket, sys::new_entry_owner());
    return std::unique_ptr<sys::Store>(std::make_unique<s3::ObjectStore>(std::move(bucket)));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void forebay_open_far_place(const forebay::sys::FarPlace& place,
                                                                              forebay::sys::OpenedPlace& opened) {
    opened = open(place);
}

extern "C" __attribute__((visibility("default"))) void forebay_open_far_store(const std::string& address,
                                                                              forebay::sys::OpenedStore& opened) {
    opened = open_store(address);
}
