// Which session has saved in a run last, as its snapshots tell. Claims alone do not tell it: snapshots that a copy
// brings come without the claims of their sessions.

#pragma once

#include <cstdint>
#include <string>

#include "core/sys/store.hpp"

namespace forebay::catalog {

/// The highest session that the names of a stream tell, and the manifest of its newest step that is readable and of run
/// `run_id`; 0: none. Costs a list of the directory and mostly one read of 4 KiB. It may be too low: of a run that has
/// gone back in another place, an older step may be the later save. prune() sees that (Retention::session).
/// `missing` if the stream's directory does not exist.
Result<std::uint32_t> last_saver(sys::Store& store, const std::string& run, const std::string& stream,
                                 std::uint64_t run_id);

/// The same of all streams: two lists, and for each stream the costs above.
Result<std::uint32_t> last_saver(sys::Store& store, const std::string& run);

/// From all manifests and marks: never too low. Reads the head of each manifest.
Result<std::uint32_t> last_saver_of_all(sys::Store& store, const std::string& run);

}  // namespace forebay::catalog
