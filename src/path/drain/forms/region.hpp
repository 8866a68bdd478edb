// Drains one sealed node file into its region of a combined or shared file. Agents of other nodes write the same file
// at the same time.
//
// Each agent writes its own region, and the same page as all other agents. It writes the page of its arrival after the
// sync of its region. If an agent stopped midway, its region is written again, in place. An agent never touches another
// agent's bytes, so it never removes or empties the file, and sets only the size that all agents know.

#pragma once

#include <functional>
#include <string>

#include "core/format/node_file.hpp"
#include "core/sys/store.hpp"

namespace forebay::drain {

/// The node file's state in its region of the file at `path`: nothing durable, different or damaged, or complete.
enum class Arrival { absent, damaged, whole };
Result<Arrival> look_at_region(sys::Store& store, const std::string& path, const format::NodeFile& file);

/// `write` writes the node's bytes to `all`, the whole file, or to `region`, with the offsets of the node file. If it
/// uses other descriptors, it must sync them itself.
using WriteRegion = std::function<Result<>(sys::File& all, sys::File& region)>;
Result<> write_region(sys::Store& store, const std::string& path, bool direct, const format::NodeFile& file,
                      Arrival arrival, const WriteRegion& write);

}  // namespace forebay::drain
