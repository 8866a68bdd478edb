// Preflight: asks all nodes at once for their checks, compares clocks, programs and speeds, probes storage targets, and
// turns problems into advice. Every question has a deadline, and the whole has an end, so an answer comes even if nodes
// or mounts hang.
//
// Threads: one calls; `interrupted` is called between questions.

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
    std::string directory;  // for a file on it
    std::string server;     // "": it has its own server
    std::int64_t ost = -1;  // index in Lustre
};

struct PreflightRequest {
    Needs needs;
    Rules rules;
    SiteAsk site;
    std::vector<Ost> osts;               // to judge by their states
    std::vector<StorageTarget> targets;  // to probe
    std::uint64_t probe_bytes = 64u << 20;
    std::size_t at_once = 512;      // nodes working, and so draining, at once
    std::size_t probes_a_node = 4;  // storage targets at once
    double seconds_max = 60;
    std::uint64_t seed = 0;
    std::uint64_t nodes_wanted = 0;  // 0: all nodes
    std::function<bool()> interrupted = {};
    std::function<void(const char* what, std::uint64_t done, std::uint64_t all)> progress = {};
};

struct Tally {
    std::uint64_t pass = 0, warn = 0, fail = 0;
};

/// Texts of findings; also used for the lists that are empty in this case.
inline constexpr std::string_view all_nodes_fail_text =
    "every node fails, so no node is excluded: check your options and the target";
inline constexpr std::string_view all_targets_fail_text =
    "every storage target fails, so no target is excluded: check the file system and the probing nodes";

struct PreflightOutcome {
    format::Advice advice;
    Tally nodes, targets;
    double seconds = 0;
    bool all_answered = true;  // false: a node may hang for good
    /// If set, the lists of exclusions are empty: a script that obeys them would exclude everything.
    bool all_nodes_fail = false, all_targets_fail = false;
    std::vector<std::uint64_t> excluded_osts = {}, good_osts = {};
};

PreflightOutcome run_preflight(Nodes& nodes, const PreflightRequest& request, const RunProgram& run);

/// Returns the spare nodes to request, so that `wanted` nodes are good with a chance of 99 %. Each node is bad with the
/// share (bad + 1) / (nodes + 2), because a few nodes without a bad one prove nothing.
std::uint64_t spares_for(std::uint64_t wanted, std::uint64_t nodes, std::uint64_t bad);

/// New and worse problems: findings of `after` that `before` lacks or rates milder, and rates that fell by more than a
/// fifth.
std::vector<format::Finding> worse_than_before(const format::Advice& before, const format::Advice& after);

}  // namespace forebay::advice
