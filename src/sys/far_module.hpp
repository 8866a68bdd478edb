// What lies on no file system of this machine is reached by modules beside this library, which are loaded when an
// address asks for one: nobody else waits for theirs.

#pragma once

#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::sys {

/// "s3://bucket/prefix".
bool is_far(std::string_view address);

/// Whether it means the same in every directory: a path from the root on, or an address.
inline bool is_whole(std::string_view place) { return place.starts_with('/') || is_far(place); }

/// The path of this machine without "." and "..", from the root on, or an address as it is, without "/" at its end.
/// `refused` where the current directory cannot be told.
Result<std::string> whole_place(const std::string& place);

/// A function of the module that reaches such addresses. `missing` where this build has none.
Result<void*> far_function(const char* name);

}  // namespace forebay::sys
