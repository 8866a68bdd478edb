// Saves of earlier sessions that lie whole in the memory of this job's nodes and are not committed. If no node holds
// all of a save, the ranks cannot read it: only agents can bring it together, at the target. The run is not to go back
// for that.

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
    Error why = {};              // where it lies, and why it is not committed
};

/// Which of them are looked for.
struct StagedPlace {
    std::string_view stream;
    std::uint64_t run_id = 0;
    std::span<const std::string> left;  // beside this session's staging, the directories that earlier sessions left
};

/// Of a stream, by the first rank of the world; others get none. A save of which a node file is missing, or is damaged,
/// is none; nor is a save of which a node knows that it is committed. Collective.
Result<std::vector<UncommittedSave>> uncommitted_saves(const comm::Topology& topology, const node::Staging& staging,
                                                       const StagedPlace& place);

}  // namespace forebay::restart
