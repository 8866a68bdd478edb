// The counters, each once: name in all languages, member, and meaning. Below are the counts of agents, each once:
// storage on the control page and in a status, name in the status, metric, and the counter for applications. The
// bindings, Stream::counters(), the control page, the status, the metrics and `forebay top` are made from these lists.
//
// To add a counter, add a member of Counters, a line in each_counter(), and the code that counts. If an agent counts
// it, add also a member of NodeCounts or StreamCounts with its line. This changes the layout of the page, so it needs a
// new node::control_version.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

#include "forebay/options.hpp"

namespace forebay::describe {

/// Calls `visit(name, member, meaning)` for each counter.
template <class Visit>
constexpr void each_counter(Visit&& visit) {
    using C = Counters;
    visit("saves", &C::saves, "kept");
    visit("skipped", &C::skipped, "skipped by the policy");
    visit("replaced", &C::replaced, "dropped by newest_only before their drain began");
    visit("commits", &C::commits, "snapshots of this session that are committed");
    visit("aborts", &C::aborts, "drains that ended with an error");
    visit("bytes_saved", &C::bytes_saved, "bytes that this rank saved");
    visit("bytes_drained", &C::bytes_drained, "bytes that this node's agent drained, as they were staged");
    visit("bytes_stored", &C::bytes_stored,
          "bytes that this node's agent wrote for them: fewer if they were compressed");
    visit("blocked_seconds", &C::blocked_seconds, "time of this rank in saves");
    visit("wait_seconds", &C::wait_seconds, "the part of it that waited for free slots");
    visit("copy_threads", &C::copy_threads, "threads of this rank that copied its last save");
    visit("drain_seconds", &C::drain_seconds, "time that this node's agent wrote and synced");
    visit("drain_cpu_seconds", &C::drain_cpu_seconds, "CPU time of the drains on this node, the sum of all threads");
    visit("newest_durable_step", &C::newest_durable_step, "the newest committed step in this run's stream; -1: none");
    visit("deadlines_missed", &C::deadlines_missed, "snapshots that were not durable by their deadline");
    visit("not_analysed", &C::not_analysed, "snapshots that the analyses on this node missed");
    visit("scripts_missed", &C::scripts_missed, "snapshots that the scripts on this node missed");
    visit("overtakes", &C::overtakes, "drains of this node that overtook a drain under way");
    visit("limits_overruled", &C::limits_overruled, "drains that ignored slowdown_percent_max to end in time");
    visit("steps_counted", &C::steps_counted, "steps of the computing, the basis of slowdown_percent");
    visit("slowdown_percent", &C::slowdown_percent,
          "slowdown of the computing while this node's agent drains; 0 also: unknown");
    visit("drain_rate_bytes_per_second", &C::drain_rate_bytes_per_second, "the present limit; 0: none");
}

/// The storage of a count in a status. The control page uses std::atomic.
template <class T>
using Plain = T;

/// The counts of a node's agent since its session began. `backlog_bytes` and `rate_bytes_per_second` are computed for
/// each status, and are 0 on the page.
template <template <class> class As>
struct NodeCounts {
    As<std::uint64_t> commits{0}, drains{0}, aborts{0}, overtakes{0}, bytes_drained{0}, bytes_stored{0};
    As<std::uint64_t> backlog_bytes{0};  // sealed and not drained
    As<double> drain_seconds{0}, drain_cpu_seconds{0};
    As<double> rate_bytes_per_second{0};  // drained since the last status
    As<double> slowdown_percent{0};
    As<std::uint64_t> steps_counted{0}, limits_overruled{0}, drain_rate_bytes_per_second{0};
};

/// The counts of one stream.
template <template <class> class As>
struct StreamCounts {
    As<std::int64_t> newest_durable_step{-1};
    As<std::uint64_t> deadlines_missed{0}, not_analysed{0}, scripts_missed{0};
};

/// Says if a status contains the count. `later`: older agents do not write it.
enum class InStatus { no, always, later };

/// The Prometheus metric of a node count.
struct CountMetric {
    int place = 0;  // order among the metrics of a node; 0: no metric
    bool grows = true;
    const char* name = "";  // after "forebay_"
    const char* help = "";
    double divisor = 1;
    const char* op = "";  // the label `op`, if any
};

struct Count {
    const char* name;  // in the status
    InStatus in_status = InStatus::always;
    CountMetric metric = {};
    bool in_top = false;  // true if `forebay top --json` shows it for each stream
};

/// Calls `visit(count, counter, get)` for each count, in the order of a status. `counter` is the member of Counters, or
/// nullptr. `get(counts)` returns the member of NodeCounts in either storage.
template <class Visit>
constexpr void each_node_count(Visit&& visit) {
    using C = Counters;
    constexpr auto always = InStatus::always, no = InStatus::no;
    visit(
        Count{"commits", always, {7, true, "node_commits", "Snapshots whose commit the agent has seen."}}, &C::commits,
        [](auto& all) -> auto& { return all.commits; });
    visit(
        Count{"drains", always, {6, true, "node_drains", "Drains that the agent has begun."}}, nullptr,
        [](auto& all) -> auto& { return all.drains; });
    visit(
        Count{"failures",
              always,
              {9, true, "errors", "Drains and commits that failed and will be tried again.", 1, "drain"}},
        &C::aborts, [](auto& all) -> auto& { return all.aborts; });
    visit(
        Count{"overtakes"}, &C::overtakes, [](auto& all) -> auto& { return all.overtakes; });
    visit(
        Count{
            "bytes_drained", always, {2, true, "node_drain_bytes", "Bytes of node files that the agent has drained."}},
        &C::bytes_drained, [](auto& all) -> auto& { return all.bytes_drained; });
    visit(
        Count{"bytes_stored", always, {3, true, "node_stored_bytes", "Bytes of these node files at the target."}},
        &C::bytes_stored, [](auto& all) -> auto& { return all.bytes_stored; });
    visit(
        Count{"backlog_bytes",
              always,
              {1, false, "node_drain_backlog_bytes", "Bytes of node files that are sealed and not drained."}},
        nullptr, [](auto& all) -> auto& { return all.backlog_bytes; });
    visit(
        Count{"drain_seconds", always, {4, true, "node_drain_seconds", "Time that the agent drained."}},
        &C::drain_seconds, [](auto& all) -> auto& { return all.drain_seconds; });
    visit(
        Count{"drain_cpu_seconds", always, {5, true, "node_drain_cpu_seconds", "CPU time of these drains."}},
        &C::drain_cpu_seconds, [](auto& all) -> auto& { return all.drain_cpu_seconds; });
    visit(
        Count{"rate_bytes_per_second"}, nullptr, [](auto& all) -> auto& { return all.rate_bytes_per_second; });
    visit(
        Count{"slowdown_percent",
              always,
              {8, false, "node_slowdown_ratio", "Slowdown of the application's steps beside drains.", 100}},
        &C::slowdown_percent, [](auto& all) -> auto& { return all.slowdown_percent; });
    visit(
        Count{"steps_counted"}, &C::steps_counted, [](auto& all) -> auto& { return all.steps_counted; });
    visit(
        Count{"limits_overruled", no}, &C::limits_overruled, [](auto& all) -> auto& { return all.limits_overruled; });
    visit(
        Count{"drain_rate_bytes_per_second", no}, &C::drain_rate_bytes_per_second,
        [](auto& all) -> auto& { return all.drain_rate_bytes_per_second; });
}

/// The same for StreamCounts.
template <class Visit>
constexpr void each_stream_count(Visit&& visit) {
    using C = Counters;
    constexpr auto always = InStatus::always;
    visit(
        Count{"newest_durable_step", always, {}, true}, &C::newest_durable_step,
        [](auto& all) -> auto& { return all.newest_durable_step; });
    visit(
        Count{"deadlines_missed", always, {}, true}, &C::deadlines_missed,
        [](auto& all) -> auto& { return all.deadlines_missed; });
    visit(
        Count{"not_analysed", always, {}, true}, &C::not_analysed, [](auto& all) -> auto& { return all.not_analysed; });
    visit(
        Count{"scripts_missed"}, &C::scripts_missed, [](auto& all) -> auto& { return all.scripts_missed; });
}

/// Copies the agent's counts to the counters for applications. `from` may lie on a control page.
template <template <class> class As>
void put_counters(const NodeCounts<As>& from, Counters& to) {
    each_node_count([&](const Count&, auto counter, auto get) {
        if constexpr (!std::is_null_pointer_v<decltype(counter)>) to.*counter = get(from);
    });
}
template <template <class> class As>
void put_counters(const StreamCounts<As>& from, Counters& to) {
    each_stream_count([&](const Count&, auto counter, auto get) { to.*counter = get(from); });
}

/// Copies the counts of a page.
inline NodeCounts<Plain> plain(const NodeCounts<std::atomic>& from) {
    NodeCounts<Plain> to;
    each_node_count([&](const Count&, auto, auto get) { get(to) = get(from); });
    return to;
}
inline StreamCounts<Plain> plain(const StreamCounts<std::atomic>& from) {
    StreamCounts<Plain> to;
    each_stream_count([&](const Count&, auto, auto get) { get(to) = get(from); });
    return to;
}

/// Returns the value of the counter with this name. `refused` for another name, with the list of names.
Result<double> counter_named(const Counters& counters, const std::string& name);
/// Returns a line for each counter, "saves 3", in the order of the list.
std::string counters_text(const Counters& counters);

}  // namespace forebay::describe
