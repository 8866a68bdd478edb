// Progress of one entry of a copy. An unreported failure is an Error instead.

#pragma once

#include <cstdint>

namespace forebay::tree {

enum class CopyStep : std::uint8_t {
    done,      // done: it is at the target, or will not be there by the policy
    later,     // it gets its name later; then its further names are linked
    deferred,  // a target directory is in the way: it is replaced at the end, then the entry is copied
    reported,  // the entry is not copied, and the log has the reason
};

}  // namespace forebay::tree
