// Waits until the agents have committed the staged snapshots.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "path/node/host.hpp"
#include "path/node/long_wait.hpp"
#include "path/node/staging.hpp"

namespace forebay::node {

/// "step 5 is draining (12.0 MB so far), step 6 is sealed": the slots that are neither committed nor free; "" if there
/// is none.
std::string show_pending(const Staging& staging, const std::vector<std::uint32_t>& slots);

/// Returns when each of the slots is committed or free, on every node. If a drain fails, it returns the agent's error
/// after the other nodes' slots are drained; it does not wait for a commit that needs the failed part. A slot that
/// failed before is tried once more. `retry`, with the staged snapshots and their places, after `at_most`. From time to
/// time it makes `host` (may be null) ensure that an agent lives. Collective.
Result<> await_commits(comm::Group& world, Staging& staging, const std::vector<std::uint32_t>& slots,
                       std::chrono::milliseconds at_most, Host* host, const Say& say);

/// For snapshots that a dead session staged on several nodes or on another number of nodes: all nodes can read them
/// only from the target. Returns when this session's agents have drained them, failed to, or after `at_most`. An
/// earlier failure is tried once more. An error if `host` (may be null) has no agent any more. If both sessions have
/// one node, it does not wait, because the session reads the staged files directly. Collective.
Result<> await_inherited(const comm::Topology& topology, Staging& staging, std::chrono::milliseconds at_most,
                         Host* host, const Say& say);

}  // namespace forebay::node
