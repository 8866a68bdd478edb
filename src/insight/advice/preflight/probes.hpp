// Probes of a storage target, a node or a directory's metadata. Each takes some tenths of a second and leaves nothing
// behind, even if it is killed: a file loses its name before it gets its first byte. Work that may hang for good, as
// any access to a target, runs in a child process that is then left alone: `retry` after `at_most`.
//
// Threads: any.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "forebay/result.hpp"

namespace forebay::advice {

/// Bytes a second of a write of `bytes` with a sync, past the page cache if the file system allows. Writing ends after
/// nearly half of `at_most`, so a target at 1 % of its rate takes no longer.
Result<double> probe_target(const std::string& directory, std::uint64_t bytes, std::chrono::milliseconds at_most);

/// Bytes a second of a copy into staging with its checksum, of the checksum only, and of a probe of the target from
/// there. Without a target the last is 0.
struct NodeSpeed {
    double staging = 0, checksum = 0, drain = 0;
};
Result<NodeSpeed> probe_node(const std::string& staging, const std::string& target, std::uint64_t bytes,
                             std::chrono::milliseconds at_most);

/// Seconds to create, look up and remove a file, over 100 files in a private directory.
struct MetadataTimes {
    double median = 0, p99 = 0;
};
Result<MetadataTimes> probe_metadata(const std::string& directory, std::chrono::milliseconds at_most);

}  // namespace forebay::advice
