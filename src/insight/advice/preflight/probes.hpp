// How fast a storage target, a node or a directory's metadata is: probes of some tenths of a second, which leave
// nothing behind even where they are killed: a file has lost its name before it gets its first byte. What may hang for
// good, as all that touches a target, is done by a child process that is left alone then: `retry` after `at_most`.
//
// Threads: any.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "forebay/result.hpp"

namespace forebay::advice {

/// Bytes a second of a write of `bytes` and a sync, past the page cache where the file system can. Writing ends after
/// nearly half of `at_most`, so that a target at 1 % of its rate costs no more.
Result<double> probe_target(const std::string& directory, std::uint64_t bytes, std::chrono::milliseconds at_most);

/// Bytes a second of a copy into staging with its checksum, of the checksum alone, and of a probe of the target from
/// there; without a target the last is absent (0).
struct NodeSpeed {
    double staging = 0, checksum = 0, drain = 0;
};
Result<NodeSpeed> probe_node(const std::string& staging, const std::string& target, std::uint64_t bytes,
                             std::chrono::milliseconds at_most);

/// 100 files of a private directory that are made, looked at and removed: seconds of all three.
struct MetadataTimes {
    double median = 0, p99 = 0;
};
Result<MetadataTimes> probe_metadata(const std::string& directory, std::chrono::milliseconds at_most);

}  // namespace forebay::advice
