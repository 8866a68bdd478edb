// The counters, each once: its name in all languages, its member and what it counts. A new counter is a member of
// Counters, a line here, and the place that counts.

#pragma once

#include <string>
#include <vector>

#include "forebay/options.hpp"

namespace forebay::describe {

/// Calls `visit(name, member, meaning)` for each.
template <class Visit>
constexpr void each_counter(Visit&& visit) {
    using C = Counters;
    visit("saves", &C::saves, "kept");
    visit("skipped", &C::skipped, "by policy");
    visit("replaced", &C::replaced, "dropped by newest_only before their drain began");
    visit("commits", &C::commits, "snapshots of this session that are committed");
    visit("aborts", &C::aborts, "drains that ended with an error");
    visit("bytes_saved", &C::bytes_saved, "by this rank");
    visit("bytes_drained", &C::bytes_drained, "by this node's agent, as they were staged");
    visit("bytes_stored", &C::bytes_stored, "of them, what was written: fewer where they were compressed");
    visit("blocked_seconds", &C::blocked_seconds, "this rank's, in saves");
    visit("wait_seconds", &C::wait_seconds, "of it, for free slots");
    visit("copy_threads", &C::copy_threads, "of this rank, that copied its last save");
    visit("drain_seconds", &C::drain_seconds, "this node's agent's, writing and syncing");
    visit("drain_cpu_seconds", &C::drain_cpu_seconds, "what this took of the node's CPUs: of all threads the sum");
    visit("newest_durable_step", &C::newest_durable_step, "committed, in this run's stream; -1: none");
    visit("deadlines_missed", &C::deadlines_missed, "snapshots that were not durable by their deadline");
    visit("not_analysed", &C::not_analysed, "snapshots that its analyses were to see and did not, on this node");
    visit("scripts_missed", &C::scripts_missed, "snapshots that its scripts were to see and did not, on this node");
    visit("overtakes", &C::overtakes, "drains of this node that went before one under way");
    visit("limits_overruled", &C::limits_overruled, "drains that kept no slowdown_percent_max, so as to end in time");
    visit("steps_counted", &C::steps_counted, "of the computing, for the next");
    visit("slowdown_percent", &C::slowdown_percent, "of the computing while this node's agent drains; 0 also: unknown");
    visit("drain_rate_bytes_per_second", &C::drain_rate_bytes_per_second, "the limit now; 0: none");
}

/// The value of that name; `refused`, with the names there are, for another.
Result<double> counter_named(const Counters& counters, const std::string& name);
/// A line each, "saves 3", by the order of the list.
std::string counters_text(const Counters& counters);

}  // namespace forebay::describe
