// Writes the bytes of one node into the datasets of a shared file, which agents of other nodes write at the same time.
//
// What is contiguous goes from the mapping to the file in blocks cut at absolute multiples of the agent's block_bytes;
// boxes that are not are gathered, window by window, and written in the longest runs there are. Past the page cache
// only whole pages can go: the ends of a node's stretch, where its page has bytes of others too, go through it.

#pragma once

#include <span>
#include <string>

#include "drain/node_drain.hpp"

namespace forebay::drain {

/// Checks and writes what `file`, a staged node file, holds of each variable. `all` is the shared file at `path`, open
/// for writing; what goes by another descriptor is durable when this returns, what goes by `all` its owner syncs.
Result<> write_shared(const NodeDrain& drain, const format::NodeFile& file, std::span<const std::byte> image,
                      const std::string& path, const std::string& name, sys::File& all);

}  // namespace forebay::drain
