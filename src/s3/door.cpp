// What the program finds in this module when an address begins with s3://: sys/posix_tree_place.cpp calls it.

#include "base/try.hpp"
#include "s3/folder.hpp"
#include "s3/key.hpp"
#include "sys/tree_place.hpp"

namespace {

using namespace forebay;

Result<std::unique_ptr<sys::Folder>> open(const sys::FarPlace& place) {
    FB_TRY_ASSIGN(parsed, s3::place_from(place.address));
    FB_TRY_ASSIGN(settings, s3::settings_from(s3::own_surroundings()));
    const auto bucket = std::make_shared<s3::Bucket>(std::move(settings), parsed.bucket, place.owner);
    return s3::open_prefix(bucket, parsed.prefix,
                           place.must_exist ? s3::OpenPrefix::must_exist : s3::OpenPrefix::may_be_empty);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void forebay_open_far_place(const forebay::sys::FarPlace& place,
                                                                              forebay::sys::OpenedPlace& opened) {
    opened = open(place);
}
