// Preflight: asks all nodes at once for their checks, compares clocks, programs and speeds, probes storage targets, and
// makes advice of what is bad. Every question has a deadline, and all of it an end, so that the answer comes whatever
// hangs.
//
// Threads: one calls; `interrupted` is asked between questions.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/advice.hpp"
#include "insight/advice/preflight/ask.hpp"
#include "insight/advice/preflight/nodes.hpp"
#include "insight/advice/preflight/rules.hpp"
#include "insight/advice/preflight/site_checks.hpp"

namespace forebay::advice {

struct StorageTarget {
    std::string name;       // "OST0007", or the directory
    std::string directory;  // where a file lies on it
    std::string server;     // "": of its own
    std::int64_t ost = -1;  // its index in Lustre
};

struct PreflightRequest {
    Needs needs;
    Rules rules;
    SiteAsk site;
    std::vector<Ost> osts;               // whose states are judged
    std::vector<StorageTarget> targets;  // that are probed
    std::uint64_t probe_bytes = 64u << 20;
    std::size_t at_once = 512;      // nodes that work, and so drain, at once
    std::size_t probes_a_node = 4;  // of storage targets, at once
    double seconds_max = 60;
    std::uint64_t seed = 0;
    std::uint64_t nodes_wanted = 0;  // 0: as many as there are
    std::function<bool()> interrupted = {};
    std::function<void(const char* what, std::uint64_t done, std::uint64_t all)> progress = {};
};

struct Tally {
    std::uint64_t pass = 0, warn = 0, fail = 0;
};

/// Of findings, and in the lists that are empty then.
inline constexpr std::string_view all_nodes_fail_text =
    "every node fails, so no node is excluded: check your options and the target";
inline constexpr std::string_view all_targets_fail_text =
    "every storage target fails, so no target is excluded: check the file system and the probing nodes";

struct PreflightOutcome {
    format::Advice advice;
    Tally nodes, targets;
    double seconds = 0;
    bool all_answered = true;  // else a node may hang for good
    /// Then the lists of what is excluded are empty: a script that obeys them would leave out all.
    bool all_nodes_fail = false, all_targets_fail = false;
    std::vector<std::uint64_t> excluded_osts = {}, good_osts = {};
};

PreflightOutcome run_preflight(Nodes& nodes, const PreflightRequest& request, const RunProgram& run);

/// As many nodes more than `wanted` that with a chance of 99 % so many are good, when each is bad with the share seen:
/// (bad + 1) / (nodes + 2), since no bad one among few proves nothing.
std::uint64_t spares_for(std::uint64_t wanted, std::uint64_t nodes, std::uint64_t bad);

/// What got worse, and what is new: findings of `after` that `before` lacks or calls milder, and rates that fell by
/// more than a fifth.
std::vector<format::Finding> worse_than_before(const format::Advice& before, const format::Advice& after);

}  // namespace forebay::advice
