// A prefix of a bucket as a directory of a tree.
//
// list() keeps the names that it finds, and later calls do not ask the server again. So this object may miss entries
// that others add after the listing, as with any listing.

#pragma once

#include <memory>
#include <string>

#include "core/s3/bucket.hpp"
#include "core/sys/tree.hpp"

namespace forebay::s3 {

enum class OpenPrefix {
    must_exist,    // `missing` if no key begins with it
    may_be_empty,  // for a place where something will be made
};

/// Opens the directory of `prefix`. `prefix` ends with "/" or is empty.
Result<std::unique_ptr<sys::Folder>> open_prefix(const std::shared_ptr<Bucket>& bucket, const std::string& prefix,
                                                 OpenPrefix how);

}  // namespace forebay::s3
