#include "path/agent/events.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/base/units.hpp"

namespace forebay::agent {

namespace {

constexpr std::array event_names{
    "begun",           "retried",     "overtook",      "late",         "noted",         "overruled",
    "drained",         "failed",      "incomplete",    "superseded",   "set_aside",     "committed",
    "found_committed", "analysed",    "not_analysed",  "raised",       "analysis_note", "left_unseen",
    "viewed",          "not_viewed",  "pruned",        "settled",      "slow",          "uncompressed",
    "not_pruned",      "problem",     "stays",         "packed",       "not_packed",    "packed_later",
    "left_out",        "not_renewed", "not_looked_at", "lost",         "serves",        "forwards",
    "takes_cpus",      "miscounted",  "worker_begun",  "worker_ended", "analyses_end",  "script_off",
    "lingers",         "leaves",      "leaves_work",   "freed",        "not_freed",     "unrecorded",
    "untimed",         "unreported",  "unshown",       "avoids",       "uses_again",    "unplaced",
    "helps",           "helped",      "helps_not",     "detours",      "no_detour",     "writes_again"};
static_assert(event_names.size() == static_cast<std::size_t>(What::writes_again) + 1);

// Most streams have only built-in analyses.
const char* by_whom(const Event& event) { return event.place == "scripts" ? " by its scripts" : ""; }

std::string line_of_snapshot(const Event& event) {
    const auto name = fmt::format("step {} of stream '{}'", event.step, event.stream);
    switch (event.what) {
        case What::overtook:
            return fmt::format("{} overtakes {}, which has written {}", name, event.detail, show_bytes(event.bytes));
        case What::retried: return fmt::format("{} is drained again after {}", name, event.detail);
        case What::slow: return fmt::format("slow: {}", event.detail);
        case What::late:
            return fmt::format("{} misses its deadline, {} after its seal: it is {}", name, show_seconds(event.seconds),
                               event.detail);
        case What::noted: return fmt::format("{}: {}", name, event.detail);
        case What::overruled:
            return fmt::format("{} drained faster than {} allows, to end in time", name, event.detail);
        case What::drained:
            return fmt::format("{}: {} drained in {}", name, show_bytes(event.bytes), show_seconds(event.seconds));
        case What::incomplete:
            return fmt::format("{} lacks node files of other nodes of the earlier session. This node's file is durable",
                               name);
        case What::superseded: return fmt::format("a later save of {} is committed. This save was removed", name);
        case What::committed: return fmt::format("{} is committed", name);
        case What::analysed:
            return fmt::format("{} is analysed{}: {} in {}", name, by_whom(event), show_count(event.count, "result"),
                               show_seconds(event.seconds));
        case What::not_analysed: return fmt::format("{} is not analysed{}: {}", name, by_whom(event), event.detail);
        case What::flagged: return fmt::format("{} fulfils a condition: {}", name, event.detail);
        case What::analysis_note: return fmt::format("analyses of {}: {}", name, event.detail);
        case What::left_unseen: return fmt::format("{} continues without {}", name, event.detail);
        case What::not_viewed: return fmt::format("no view {} of step {}: {}", event.place, event.step, event.detail);
        case What::found_committed: return fmt::format("{} is committed by another agent", name);
        default: return {};
    }
}

std::string line_of_agent(const Event& event) {
    switch (event.what) {
        case What::not_pruned: return fmt::format("retention of stream '{}' failed: {}", event.stream, event.detail);
        case What::uncompressed:
            return fmt::format("stream '{}' is drained without compression: {}", event.stream, event.detail);
        case What::packed:
            return fmt::format("{} of the spool, {}, {} packed and committed", show_count(event.count, "file"),
                               show_bytes(event.bytes), event.count == 1 ? "is" : "are");
        case What::not_packed:
            return fmt::format("the spool{} is not packed: {}", event.place.empty() ? "" : " in " + event.place,
                               event.detail);
        case What::packed_later:
            return fmt::format("the spool in {} will be packed when the agent ends: {}", event.place, event.detail);
        case What::left_out:
            return fmt::format("these files stay in the spool, and the rest is packed: {}", event.detail);
        case What::not_renewed: return fmt::format("the run lock is not renewed: {}", event.detail);
        case What::not_looked_at: return fmt::format("the run lock cannot be checked: {}", event.detail);
        case What::serves: return fmt::format("agent {} serves {} for run {}", event.count, event.place, event.detail);
        case What::forwards: return fmt::format("it writes through {}", event.detail);
        case What::takes_cpus: return fmt::format("the agent takes CPUs from ranks: {}", event.detail);
        case What::miscounted: return fmt::format("{}: please report it", event.detail);
        case What::worker_ended:
            return fmt::format("the program of the {} has failed. The next snapshot gets a new program: {}",
                               event.place, event.detail);
        case What::analyses_end:
            return fmt::format("no more {} in this session, as their program has failed {} times in a row: {}",
                               event.place, event.count, event.detail);
        case What::script_off:
            return fmt::format(
                "analysis '{}' of stream '{}' is switched off for this session, as its script has ended its process {} "
                "times in a row: {}",
                event.place, event.stream, event.count, event.detail);
        case What::lingers:
            return fmt::format("everything is committed. The staged copies are kept {} s more for a restart",
                               event.seconds);
        case What::leaves: return "the agent ends, and everything is committed";
        case What::leaves_work: return fmt::format("the agent ends; next: forebay drain {}", event.place);
        case What::unrecorded: return fmt::format("events are not recorded in {}: {}", event.place, event.detail);
        case What::untimed: return fmt::format("timings are not kept in {}: {}", event.place, event.detail);
        case What::unreported: return fmt::format("no report of the session in {}: {}", event.place, event.detail);
        case What::unshown: return fmt::format("monitors cannot see it in {}: {}", event.place, event.detail);
        case What::avoids: return fmt::format("new node files avoid it: {}", event.detail);
        case What::uses_again: return fmt::format("it gets node files again: {}", event.detail);
        case What::unplaced: return fmt::format("the file system places the node files: {}", event.detail);
        case What::helps: return fmt::format("it also writes for other nodes of this job, at {}", event.detail);
        case What::helped: return fmt::format("it wrote for neighbours: {}", event.detail);
        case What::helps_not: return fmt::format("it cannot write for other nodes of this job: {}", event.detail);
        case What::detours: return fmt::format("its node files go {}", event.detail);
        case What::no_detour: return fmt::format("it writes its node files itself: {}", event.detail);
        case What::writes_again: return fmt::format("it writes its node files itself again: {}", event.detail);
        case What::freed: return "the staged copies are committed, and their memory is freed";
        default: return {};
    }
}

}  // namespace

const char* name_of(What what) {
    const auto index = static_cast<std::size_t>(what);
    return index < event_names.size() ? event_names[index] : "unknown";
}

std::string line_of(const Event& event) {
    switch (event.what) {
        case What::failed:
        case What::set_aside:
        case What::problem:
        case What::stays:
        case What::lost:
        case What::not_freed: return event.detail;
        default: break;
    }
    auto line = line_of_snapshot(event);
    return line.empty() ? line_of_agent(event) : line;
}

Tell to_log(Log log) {
    return [log = std::move(log)](const Event& event) {
        if (const auto line = line_of(event); !line.empty()) log(line);
    };
}

Tell to_all(std::vector<Tell> hearers) {
    return [hearers = std::move(hearers)](const Event& event) {
        for (const auto& hear : hearers) hear(event);
    };
}

}  // namespace forebay::agent
