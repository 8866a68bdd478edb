// Finds saves of earlier sessions that lie whole in the memory of this job's nodes and are not committed. If no node
// has the whole save, the ranks cannot read it: only agents can bring it together, at the target. The run must not go
// back because of that.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/comm/group.hpp"
#include "core/format/node_file.hpp"
#include "path/node/staging.hpp"

namespace forebay::restart {

struct UncommittedSave {
    format::Record record = {};  // of one of its node files
    Error why = {};              // its nodes, and why it is not committed
};

/// The saves to look for.
struct StagedPlace {
    std::string_view stream;
    std::uint64_t run_id = 0;
    std::span<const std::string> left;  // besides this session's staging: directories of earlier sessions
};

/// Only the world's first rank gets a result. A save does not count if a node file is missing or damaged, or if any
/// node knows that it is committed. Collective.
Result<std::vector<UncommittedSave>> uncommitted_saves(const comm::Topology& topology, const node::Staging& staging,
                                                       const StagedPlace& place);

}  // namespace forebay::restart
