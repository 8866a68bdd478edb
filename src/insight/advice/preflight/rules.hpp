// The checks of preflight, how bad each may call what it finds, its thresholds and its deadline: ours, or those of a
// site's file. docs/reference/preflight.md has the table, with how often each is wrong.

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
    answer,        // of a node at all
    memory,        // of a node, against its need
    staging,       // room, limits and leftovers where a node stages
    mounts,        // that hang, and agents of DAOS
    targets,       // what the file system says of its storage targets
    target_speed,  // by probes
    node_speed,    // likewise: staging, checksums, draining
    metadata,      // creating, looking and removing
    mpi,           // collective results, and the same program everywhere
    clock,         // against the first node's
    limits,        // of processes; pressure
    budget,        // room, quota and time that the run needs
    profile,       // of the tuner
};
inline constexpr std::size_t checks = 13;

struct CheckRule {
    std::string_view name;
    format::Severity most;  // a worse finding is told as this
    bool on = true;
    double warn = 0, fail = 0;  // beyond them, where the check has thresholds
    std::chrono::milliseconds deadline{};
    // What the site's file may set, and from where to where.
    bool has_warn = false, has_fail = false, has_deadline = false;
    double threshold_min = 0, threshold_max = 0;
};

class Rules {
public:
    /// Ours.
    Rules();
    /// A site's file, which changes ours:
    ///
    ///     [targets]
    ///     severity = "warn"      # "fail", "warn", "note" or "off": the most that is made of what it finds
    ///     warn = 0.90            # the thresholds of the guide's table
    ///     deadline_seconds = 5.0
    ///
    /// `refused`, with path and line, for tables and keys that are not known or would change nothing, and values out of
    /// range.
    static Result<Rules> parse(std::string_view text, const std::string& path);

    const CheckRule& of(CheckKind check) const { return rules_[static_cast<std::size_t>(check)]; }
    CheckRule& of(CheckKind check) { return rules_[static_cast<std::size_t>(check)]; }
    /// Puts a finding among the others as bad as its rule lets it be; drops it where the check is off.
    void add(std::vector<format::Finding>& findings, CheckKind check, format::Finding finding) const;

private:
    std::array<CheckRule, checks> rules_;
};

}  // namespace forebay::advice
