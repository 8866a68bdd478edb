// What lies on no file system of this machine is reached by modules beside this library, which are loaded when an
// address asks for one: nobody else waits for theirs.

#pragma once

#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::sys {

/// "s3://bucket/prefix", "daos://pool/container/path".
bool is_far(std::string_view address);
/// Of those, a bucket or a container as a whole: it has no name in a folder.
bool is_whole_store(std::string_view address);
/// Whether a run may lie there: on file systems and in buckets.
bool may_hold_runs(std::string_view place);

/// Whether it means the same in every directory: a path from the root on, or an address.
inline bool is_whole(std::string_view place) { return place.starts_with('/') || is_far(place); }

/// `refused` for what is written like an address and is none: "host:path", "gs://bucket/x", "s3:/bucket". A directory
/// of such a name is "./host:path".
Result<> check_address(std::string_view place);

/// The path of this machine without "." and "..", from the root on, or an address as it is, without "/" at its end.
/// `refused` where the current directory cannot be told.
Result<std::string> whole_place(const std::string& place);

/// Which servers this process is to reach, by variables of its environment that hold no secrets: a line each,
/// "NAME=VALUE". Another process that takes them reaches the same.
std::string told_settings();
/// Before anything far is opened. Other variables are left alone.
void take_settings(const std::string& lines);

/// A function of the module that reaches such addresses. `unsupported` where this build has none.
Result<void*> far_function(std::string_view address, const char* name);

}  // namespace forebay::sys
