#include "path/telemetry/left_in_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/try.hpp"
#include "core/describe/host_list.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/run.hpp"
#include "path/telemetry/standing.hpp"

namespace forebay::telemetry {

namespace {

// The state of a slot whose snapshot is sealed and not known to be committed.
bool is_owed(const format::SlotStatus& slot) {
    return slot.state == "sealed" || slot.state == "draining" || slot.state == "drained" || slot.state == "failed";
}

// The line is pasted into a shell, and the run may come from anybody.
bool is_shell_safe(const std::string& host) {
    return std::ranges::all_of(host, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_';
    });
}

// What the target has of a stream: each committed step of any line, and the newest living step.
struct Committed {
    std::set<std::int64_t> steps;
    std::optional<std::int64_t> newest;
};

Result<Committed> committed_of(sys::Store& store, const std::string& run, const std::string& stream) {
    Committed committed;
    const auto history = catalog::history(store, run, stream);
    // No snapshot of this stream was ever committed.
    if (!history && history.error().kind == ErrorKind::missing) return committed;
    if (!history) return history.error();
    for (const auto* versions : {&history->living, &history->abandoned})
        for (const auto& version : *versions) committed.steps.insert(version.head.step);
    if (!history->living.empty()) committed.newest = history->living.front().head.step;
    return committed;
}

}  // namespace

Result<std::vector<SealedLeft>> left_in_memory(sys::Store& store, const Chronicle& chronicle, std::int64_t now_unix_ns,
                                               const std::vector<std::string>& known_hosts) {
    std::uint32_t newest_session = 0;
    for (const auto& status : chronicle.statuses) newest_session = std::max(newest_session, status.session);
    std::map<std::pair<std::string, std::int64_t>, SealedLeft> by_step;
    std::map<std::string, Committed> streams;
    for (const auto& status : chronicle.statuses) {
        if (status.state != "left" && !is_stale(status, now_unix_ns)) continue;
        if (std::ranges::find(known_hosts, status.host) != known_hosts.end()) continue;
        for (const auto& stream : status.streams)
            for (const auto& slot : stream.slots) {
                if (!is_owed(slot)) continue;
                auto known = streams.find(stream.name);
                if (known == streams.end()) {
                    FB_TRY_ASSIGN(committed, committed_of(store, chronicle.run, stream.name));
                    known = streams.emplace(stream.name, std::move(committed)).first;
                }
                const auto& [steps, newest] = known->second;
                if (steps.contains(slot.step)) continue;
                if (status.session < newest_session && newest && slot.step <= *newest) continue;
                auto& left = by_step[{stream.name, slot.step}];
                left.stream = stream.name;
                left.step = slot.step;
                left.hosts.push_back(status.host);
                left.paths.push_back(status.path);
            }
    }
    std::vector<SealedLeft> all;
    for (auto& [key, left] : by_step) {
        std::ranges::sort(left.hosts);
        left.hosts.erase(std::unique(left.hosts.begin(), left.hosts.end()), left.hosts.end());
        all.push_back(std::move(left));
    }
    return all;
}

Result<std::vector<SealedLeft>> find_left_in_memory(sys::Store& store, const std::string& run, std::int64_t now_unix_ns,
                                                    const std::vector<std::string>& known_hosts,
                                                    std::size_t statuses_max) {
    const auto entries = store.list(run + "/" + catalog::own_directory);
    if (!entries && entries.error().kind == ErrorKind::missing) return std::vector<SealedLeft>();
    if (!entries) return entries.error();
    const auto statuses =
        std::ranges::count_if(*entries, [](const auto& entry) { return entry.name.starts_with("status-"); });
    if (static_cast<std::size_t>(statuses) > statuses_max) return std::vector<SealedLeft>();
    FB_TRY_ASSIGN(chronicle, read_chronicle(store, run, {.with_timings = false, .statuses_alone = true}));
    return left_in_memory(store, chronicle, now_unix_ns, known_hosts);
}

Result<> forget(sys::Store& store, const std::vector<SealedLeft>& left) {
    for (const auto& snapshot : left)
        for (const auto& path : snapshot.paths) {
            const auto removed = store.remove(path);
            if (!removed && removed.error().kind != ErrorKind::missing) return removed;
        }
    return {};
}

std::string text_of(const SealedLeft& left) {
    return fmt::format("{}@{} was sealed and is not committed. The memory of {} may still have it.", left.stream,
                       left.step, describe::show_hosts(left.hosts));
}

std::string next_of(const std::vector<SealedLeft>& left) {
    std::vector<std::string> hosts;
    for (const auto& snapshot : left) std::ranges::copy_if(snapshot.hosts, std::back_inserter(hosts), is_shell_safe);
    const auto list = describe::show_hosts(std::move(hosts));
    return fmt::format(
        "srun --nodelist={} --ntasks-per-node=1 forebay drain all. Without Slurm, run forebay drain all on {}", list,
        list);
}

}  // namespace forebay::telemetry
