// Waiting for the agents to commit what is staged.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "path/node/host.hpp"
#include "path/node/long_wait.hpp"
#include "path/node/staging.hpp"

namespace forebay::node {

/// "step 5 is draining (12.0 MB so far), step 6 is sealed": those of the slots that are neither committed nor free;
/// empty when there is none.
std::string show_pending(const Staging& staging, const std::vector<std::uint32_t>& slots);

/// Returns when each of the slots is committed or free, on every node; the agent's error where a drain fails (a slot
/// that had failed before is tried once more), after the other nodes' slots: these are drained, but wait for no commit
/// that needs what has failed. `retry`, with what is staged where, after `at_most`. `host` (may be null) is asked now
/// and then that an agent lives. Collective.
Result<> await_commits(comm::Group& world, Staging& staging, const std::vector<std::uint32_t>& slots,
                       std::chrono::milliseconds at_most, Host* host, const Say& say);

/// Snapshots that a dead session left staged on several nodes, or on another number of them, can be read by all nodes
/// only from the target. Returns when the agents of this session have drained it there, or have failed to, or after
/// `at_most`; a failure of before is tried once more. An error where `host` (may be null) has no agent any more. A
/// session of one node reads what an earlier one of one node left as it is, so it does not wait. Collective.
Result<> await_inherited(const comm::Topology& topology, Staging& staging, std::chrono::milliseconds at_most,
                         Host* host, const Say& say);

}  // namespace forebay::node
