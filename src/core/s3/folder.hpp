// A prefix of a bucket as a folder of a tree.
//
// Names that list() has told are known afterwards without asking again, until this object is gone: what others put
// there meanwhile may not be seen, as in any listing.

#pragma once

#include <memory>
#include <string>

#include "core/s3/bucket.hpp"
#include "core/sys/tree.hpp"

namespace forebay::s3 {

enum class OpenPrefix {
    must_exist,    // `missing` where no key begins with it
    may_be_empty,  // as the place where something is to be made
};

/// The folder of `prefix`, which ends with a "/" or is empty.
Result<std::unique_ptr<sys::Folder>> open_prefix(const std::shared_ptr<Bucket>& bucket, const std::string& prefix,
                                                 OpenPrefix how);

}  // namespace forebay::s3
