// Committed snapshots whose node files were brought to the target as an agent brings them: in files of several nodes
// and compressed ones too.

#pragma once

#include "core/base/try.hpp"
#include "path/drain/compress.hpp"
#include "path/drain/node_drain.hpp"
#include "support/committed_run.hpp"

namespace forebay::test {

/// With a `codec` compressed, all variables alike.
inline Result<> drain_and_commit(sys::Store& store, const std::string& run, const SmallSnapshot& snapshot,
                                 Codec codec = Codec::none) {
    drain::CompressionMemory memory{.rules = {{.codec = codec}, {}}};
    drain::NodeDrain how{.store = &store, .run = run, .direct = false};
    if (codec != Codec::none) how.compression = &memory;
    FB_TRY(store.make_directories(run));  // drains make what is below it
    for (std::uint32_t node = 0; node < snapshot.nodes; ++node)
        FB_TRY(drain::drain_node_file(how, small_node_file(snapshot, node), "slot"));
    FB_TRY(commit(store, run, snapshot));
    return {};
}

}  // namespace forebay::test
