// Snapshots that were sealed and never committed: they may still be in the memory of nodes whose agents are gone. The
// newest status line of each agent tells what the agent held.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "path/telemetry/chronicle.hpp"

namespace forebay::telemetry {

struct SealedLeft {
    std::string stream;
    std::int64_t step = 0;
    std::vector<std::string> hosts;  // sorted, each once
    std::vector<std::string> paths;  // of the status lines that tell it
};

/// Sorted by stream and step. Names no host in `known_hosts`: the caller has looked at the memory of these hosts. Names
/// no step that the run has committed in any line. Of an earlier session, it names only steps that are newer than all
/// living snapshots of the stream. Costs a read of the heads of each stream that an agent still held.
Result<std::vector<SealedLeft>> left_in_memory(sys::Store& store, const Chronicle& chronicle, std::int64_t now_unix_ns,
                                               const std::vector<std::string>& known_hosts = {});

/// The same from the run's own status lines. A run without them has nothing left. With `statuses_max`: if the run has
/// more status lines, the answer is empty, because each of them costs a read.
Result<std::vector<SealedLeft>> find_left_in_memory(sys::Store& store, const std::string& run, std::int64_t now_unix_ns,
                                                    const std::vector<std::string>& known_hosts = {},
                                                    std::size_t statuses_max = SIZE_MAX);

/// Removes the status lines, because the caller knows that no node has these snapshots any more.
Result<> forget(sys::Store& store, const std::vector<SealedLeft>& left);

/// "restart@5 was sealed and is not committed. The memory of n[3-4] may still have it."
std::string text_of(const SealedLeft& left);
/// The command that commits all of them, with the hosts on which it must run.
std::string next_of(const std::vector<SealedLeft>& left);

}  // namespace forebay::telemetry
