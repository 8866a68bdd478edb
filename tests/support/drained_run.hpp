// Committed snapshots whose node files reached the target as an agent writes them: in files of several nodes, and also
// compressed.

#pragma once

#include "core/base/try.hpp"
#include "path/drain/compress.hpp"
#include "path/drain/node_drain.hpp"
#include "support/committed_run.hpp"

namespace forebay::test {

/// With a `codec` all variables are compressed alike.
inline Result<> drain_and_commit(sys::Store& store, const std::string& run, const SmallSnapshot& snapshot,
                                 Codec codec = Codec::none) {
    drain::CompressionMemory memory{.rules = {{.codec = codec}, {}}};
    drain::NodeDrain how{.store = &store, .run = run, .direct = false};
    if (codec != Codec::none) how.compression = &memory;
    FB_TRY(store.make_directories(run));  // the drain makes the directories below
    for (std::uint32_t node = 0; node < snapshot.nodes; ++node)
        FB_TRY(drain::drain_node_file(how, small_node_file(snapshot, node), "slot"));
    FB_TRY(commit(store, run, snapshot));
    return {};
}

}  // namespace forebay::test
