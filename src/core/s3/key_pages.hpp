// Lists all keys with a prefix, page by page. `corrupt` if a page comes a second time, because the listing would never
// end.
//
// Threads: one.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/s3/bucket.hpp"

namespace forebay::s3 {

class KeyPages {
public:
    KeyPages(Bucket& bucket, std::string prefix, bool is_deep = false)
        : bucket_(bucket), prefix_(std::move(prefix)), is_deep_(is_deep) {}

    bool has_more() const { return has_more_; }
    Result<KeyPage> next();

private:
    Bucket& bucket_;
    const std::string prefix_;
    const bool is_deep_;
    std::string from_;
    bool has_more_ = true;
    std::unordered_set<std::uint64_t> given_;  // hashes of the first and last keys of each page
    int poor_ = 0;
};

}  // namespace forebay::s3
