// The checks of preflight, the most severity of each, its thresholds and its deadline: our defaults, or a site's file.
// docs/reference/preflight.md has the table, with the error rates of the checks.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/format/advice.hpp"
#include "forebay/result.hpp"

namespace forebay::advice {

enum class CheckKind : std::uint8_t {
    answer,        // the node answers at all
    memory,        // of a node, against its need
    staging,       // space, limits and leftovers in a node's staging directory
    mounts,        // hanging mounts, and agents of DAOS
    targets,       // the file system's report of its storage targets
    target_speed,  // measured by probes
    node_speed,    // measured by probes: staging, checksums, draining
    metadata,      // creating, looking up and removing files
    mpi,           // collective results, and equal programs on all nodes
    clock,         // against the other nodes
    limits,        // of processes; pressure
    budget,        // space, quota and time that the run needs
    profile,       // of the tuner
};
inline constexpr std::size_t checks = 13;

struct CheckRule {
    std::string_view name;
    format::Severity most;  // worse findings are reduced to this
    bool on = true;
    double warn = 0, fail = 0;  // thresholds, if the check has any
    std::chrono::milliseconds deadline{};
    // The keys and the range that a site's file may set.
    bool has_warn = false, has_fail = false, has_deadline = false;
    double threshold_min = 0, threshold_max = 0;
};

class Rules {
public:
    /// Our defaults.
    Rules();
    /// A site's file, which changes our defaults:
    ///
    ///     [targets]
    ///     severity = "warn"      # "fail", "warn", "note" or "off": the most for its findings
    ///     warn = 0.90            # the thresholds of the guide's table
    ///     deadline_seconds = 5.0
    ///
    /// `refused`, with path and line, for unknown tables and keys, keys without effect, and values out of range.
    static Result<Rules> parse(std::string_view text, const std::string& path);

    const CheckRule& of(CheckKind check) const { return rules_[static_cast<std::size_t>(check)]; }
    CheckRule& of(CheckKind check) { return rules_[static_cast<std::size_t>(check)]; }
    /// Adds a finding with at most the severity of its rule. Drops it if the check is off.
    void add(std::vector<format::Finding>& findings, CheckKind check, format::Finding finding) const;

private:
    std::array<CheckRule, checks> rules_;
};

}  // namespace forebay::advice
