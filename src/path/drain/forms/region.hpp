// Drains one sealed node file into its region of a combined or shared file, which agents of other nodes write at the
// same time.
//
// Each writes its own region, and the same page as all others; the page of its arrival comes after the sync of its
// region. What a stopped agent left is written anew, in place: nothing of the others is touched, so the file is neither
// removed nor emptied nor ever given another size than the one that all agents know.

#pragma once

#include <functional>
#include <string>

#include "core/format/node_file.hpp"
#include "core/sys/store.hpp"

namespace forebay::drain {

/// What of a node file is durable in its region of the file at `path`: nothing, another or a damaged one, or all of it.
enum class Arrival { absent, damaged, whole };
Result<Arrival> look_at_region(sys::Store& store, const std::string& path, const format::NodeFile& file);

/// `write` puts the node's bytes into `all` of the file, or into its region alone, whose offsets are those of the node
/// file. What it writes by other descriptors it syncs itself.
using WriteRegion = std::function<Result<>(sys::File& all, sys::File& region)>;
Result<> write_region(sys::Store& store, const std::string& path, bool direct, const format::NodeFile& file,
                      Arrival arrival, const WriteRegion& write);

}  // namespace forebay::drain
