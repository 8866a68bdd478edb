// How far one entry of a copy is. A failure that nobody has reported yet is an Error instead.

#pragma once

#include <cstdint>

namespace forebay::tree {

enum class CopyStep : std::uint8_t {
    done,      // all is done: it is at the target, or settled that it will not be
    later,     // it gets its name later; the one that gives the name sees to further names of the inode
    deferred,  // a folder of the target stands there: it is replaced in the end, and the entry copied then
    reported,  // the entry is not copied, and the remarks say so
};

}  // namespace forebay::tree
