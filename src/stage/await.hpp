// Waiting for the agent to commit what is staged on this node.

#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "stage/staging.hpp"

namespace forebay::stage {

/// Returns when each of the slots is committed or free; the agent's error when a drain fails (a slot that had failed
/// before is tried once more); `retry`, with what is staged where, after `at_most`. Any rank of the node may call it.
/// `ensure_agent` (may be empty) is called now and then.
Result<> await_commits(Staging& staging, const std::vector<std::uint32_t>& slots, std::chrono::milliseconds at_most,
                       const std::function<Result<>()>& ensure_agent);

}  // namespace forebay::stage
