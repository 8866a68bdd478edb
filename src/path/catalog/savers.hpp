// Finds the last session that saved in a run, from its snapshots. The locks are not enough: a copy brings snapshots
// without the locks of their sessions.

#pragma once

#include <cstdint>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::catalog {

/// The highest session in the names of a stream and in the manifest of its newest step that is readable and of run
/// `run_id`; 0: none. Costs a list of the directory and mostly one read of 4 KiB. The answer may be too low: if a run
/// went back in another place, an older step may be the later save. prune() notices that (Retention::session).
/// `missing` if the stream's directory does not exist.
Result<std::uint32_t> last_saver(sys::Store& store, const std::string& run, const std::string& stream,
                                 std::uint64_t run_id);

/// The same for all streams. Costs two lists, and for each stream the costs above.
Result<std::uint32_t> last_saver(sys::Store& store, const std::string& run);

/// Uses all manifests and marks and is never too low. Reads the head of each manifest.
Result<std::uint32_t> last_saver_of_all(sys::Store& store, const std::string& run);

}  // namespace forebay::catalog
