// Modules beside this library reach storage outside the file systems of this machine. A module is loaded when an
// address needs it, so other programs do not wait for its libraries.

#pragma once

#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::sys {

/// True for "s3://bucket/prefix" and "daos://pool/container/path".
bool is_far(std::string_view address);
/// True for an address of a whole bucket or container: it has no name in a directory.
bool is_whole_store(std::string_view address);
/// The address of the bucket or container: "daos://pool/container" for all paths in it.
std::string store_of(std::string_view address);
/// True if directories exist by themselves there. A bucket has only objects.
bool has_directories(std::string_view place);
/// True if several nodes can write into one file there. An object of a bucket is written as a whole.
bool nodes_can_share(std::string_view place);

/// True if the place means the same in every directory: an absolute path, or an address.
inline bool is_whole(std::string_view place) { return place.starts_with('/') || is_far(place); }

/// `refused` for a text that looks like an unknown address: "host:path", "gs://bucket/x", "s3:/bucket". For a directory
/// of such a name, write "./host:path".
Result<> check_address(std::string_view place);

/// The absolute path without "." and "..", or the address as it is. Neither ends in "/". `refused` if the current
/// directory is unknown.
Result<std::string> whole_place(const std::string& place);

/// The environment variables that choose the servers of this process, as lines "NAME=VALUE". They hold no secrets. A
/// process that takes them reaches the same servers.
std::string told_settings();
/// Sets only these variables. Call it before any address is opened.
void take_settings(const std::string& lines);

/// A function of the module for this address. `unsupported` if this build lacks the module.
Result<void*> far_function(std::string_view address, const char* name);

}  // namespace forebay::sys
