#include "insight/advice/preflight/node_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "core/base/crc32c.hpp"
#include "core/base/text_lines.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/local_file.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/thread.hpp"

namespace forebay::advice {

namespace {

using format::Severity;

// Mounts checked at once. A row of them with a hanging mount takes the whole deadline.
constexpr std::uint64_t looks_at_once = 16;
constexpr std::size_t mounts_max = 256;
constexpr std::uint64_t files_free_min = 1000;
// The least that registered memory of a network needs. Systems with such networks set no limit.
constexpr std::uint64_t locked_bytes_min = 64u << 20;
// Percent of the last 10 s with some process waiting, on a node that should be idle.
constexpr double pressure_percent_max = 10;

std::vector<Mount> mounts_here() {
    const auto text = sys::kernel_text("/proc/self/mountinfo");
    return text ? read_mountinfo(*text) : std::vector<Mount>();
}

void check_room(const sys::FileSystem& room, const Needs& needs, const Rules& rules,
                std::vector<format::Finding>& findings) {
    const auto add = [&](Severity severity, std::string text) {
        rules.add(findings, CheckKind::staging, {.severity = severity, .text = std::move(text)});
    };
    const auto slots = needs.slots * needs.slot_bytes;
    if (room.bytes > 0 && room.bytes < slots)
        add(Severity::fail, fmt::format("{} is limited to {}, {} slots of {} do not fit", needs.staging,
                                        show_bytes(room.bytes), needs.slots, show_bytes(needs.slot_bytes)));
    else if (room.free_bytes < slots)
        add(Severity::fail, fmt::format("{} has {} free, {} slots of {} do not fit", needs.staging,
                                        show_bytes(room.free_bytes), needs.slots, show_bytes(needs.slot_bytes)));
    if (room.files > 0 && room.files_free < files_free_min)
        add(Severity::warn, fmt::format("{} has room for {} more files", needs.staging, room.files_free));
}

// Processes with this name.
struct Process {
    std::string number;
    std::uint32_t owner = 0;
    std::int64_t started_unix_ns = 0;
};
std::vector<Process> processes_of(std::string_view name) {
    std::vector<Process> processes;
    const auto numbers = sys::names_in("/proc");
    if (!numbers) return processes;
    for (const auto& number : *numbers) {
        if (!number_of<std::uint64_t>(number)) continue;
        const auto own_name = sys::kernel_text(fmt::format("/proc/{}/comm", number).c_str());
        if (!own_name || own_name->substr(0, own_name->find('\n')) != name) continue;
        if (const auto about = sys::look_at("/proc/" + number))
            processes.push_back({number, about->owner, about->modified_unix_ns});
    }
    return processes;
}

std::string show_process(const Process& process) {
    const auto minutes = static_cast<double>(sys::unix_ns() - process.started_unix_ns) / 60e9;
    return fmt::format("{} of {}, {:.0f} min old", process.number, sys::user_name(process.owner), minutes);
}

void check_daos(const std::vector<Mount>& mounts, const Needs& needs, const Rules& rules,
                std::vector<format::Finding>& findings) {
    const auto add = [&](Severity severity, std::string text) {
        rules.add(findings, CheckKind::mounts, {.severity = severity, .text = std::move(text)});
    };
    const auto agents = processes_of("daos_agent");
    if (agents.size() > 1)
        add(Severity::warn, fmt::format("{} daos_agent: {}", agents.size(), show_process(agents.back())));
    const auto mounted = static_cast<std::size_t>(std::ranges::count_if(mounts, is_dfuse));
    const auto running = processes_of("dfuse");
    if (running.size() > mounted)
        add(Severity::warn,
            fmt::format("{} dfuse for {} mounts: {}", running.size(), mounted, show_process(running.back())));
    const auto* target = mount_of(mounts, needs.target);
    if (needs.target.empty() || target == nullptr || !is_dfuse(*target)) return;
    const char* configured = std::getenv("DAOS_AGENT_DRPC_DIR");
    const auto socket = std::string(configured != nullptr ? configured : "/var/run/daos_agent") + "/daos_agent.sock";
    if (sys::file_id(socket).empty()) add(Severity::fail, fmt::format("there is no {}: no agent of DAOS", socket));
}

struct PlaceToTouch {
    std::string path;
    sys::Touch how = sys::Touch::look;
};

// EACCES and EPERM are answers: another user's mount is not a fault of the node.
bool is_fault(const Error& error, const PlaceToTouch& place) {
    return error.kind != ErrorKind::refused || place.how == sys::Touch::write;
}

}  // namespace

std::uint64_t short_hash(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    constexpr std::byte salt[] = {std::byte{1}};
    // Two checksums with different starts make 64 bits; the shift leaves the 53 bits of a double.
    const std::uint64_t first = crc32c(bytes), second = crc32c(bytes, crc32c(salt));
    return ((first << 32 | second) * 0x9E3779B97F4A7C15ull) >> 11;
}

void check_staging(const Memory& memory, const Needs& needs, const Rules& rules, std::int64_t now_unix_ns,
                   std::vector<format::Finding>& findings) {
    if (needs.staging.empty()) return;
    const auto room = sys::file_system_of(needs.staging);
    if (!room) {
        rules.add(findings, CheckKind::staging, {.severity = Severity::fail, .text = room.error().what});
        return;
    }
    check_room(*room, needs, rules, findings);
    // judge_memory() has reported the largest leftover already.
    const bool is_told = std::ranges::any_of(findings, [](const auto& finding) {
        return finding.check == "memory" && finding.text.find(" left by ") != std::string::npos;
    });
    for (const auto& leftover : memory.leftovers) {
        const bool first = &leftover == &memory.leftovers.front();
        if (static_cast<double>(leftover.bytes) <
            rules.of(CheckKind::staging).warn * static_cast<double>(memory.machine.total))
            break;
        if (first && is_told) continue;
        rules.add(findings, CheckKind::staging, {.severity = Severity::warn, .text = show(leftover, now_unix_ns)});
    }
}

void check_mounts(Needs& needs, const Rules& rules, std::vector<format::Finding>& findings) {
    const auto mounts = mounts_here();
    std::vector<PlaceToTouch> places;
    // The run's own directories come first, because the number of mounts is limited.
    for (auto* needed : {&needs.staging, &needs.target})
        if (!needed->empty()) places.push_back({*needed, sys::Touch::write});
    for (const auto& mount : mounts)
        if (may_hang(mount) && places.size() < mounts_max) places.push_back({mount.place, sys::Touch::look});
    const auto deadline = rules.of(CheckKind::mounts).deadline;
    std::atomic<std::size_t> next{0};
    std::vector<std::optional<Error>> errors(places.size());
    sys::work_together(std::min<std::uint64_t>(looks_at_once, places.size()), [&] {
        for (auto i = next++; i < places.size(); i = next++)
            if (const auto answered = sys::touch(places[i].path, places[i].how, deadline); !answered)
                errors[i] = answered.error();
    });
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!errors[i] || !is_fault(*errors[i], places[i])) continue;
        const bool hangs = errors[i]->kind == ErrorKind::retry;
        rules.add(findings, CheckKind::mounts, {.severity = Severity::fail, .text = errors[i]->what});
        // A directory below it would hang as well.
        const auto is_below = [&](const std::string& path) {
            return path == places[i].path || path.starts_with(places[i].path + "/");
        };
        if (hangs && is_below(needs.staging)) needs.staging.clear();
        if (hangs && is_below(needs.target)) needs.target.clear();
        if (!hangs && places[i].how == sys::Touch::write)
            (places[i].path == needs.staging ? needs.staging : needs.target).clear();
    }
    check_daos(mounts, needs, rules, findings);
}

void check_limits(const Needs& needs, const Rules& rules, std::vector<format::Finding>& findings) {
    const auto add = [&](Severity severity, std::string text) {
        rules.add(findings, CheckKind::limits, {.severity = severity, .text = std::move(text)});
    };
    const auto limits = sys::process_limits();
    const auto& rule = rules.of(CheckKind::limits);
    if (static_cast<double>(limits.open_files) < rule.warn)
        add(static_cast<double>(limits.open_files) < rule.fail ? Severity::fail : Severity::warn,
            fmt::format("{} open files (ulimit -n)", limits.open_files));
    if (limits.address_bytes < needs.memory_bytes())
        add(Severity::fail, fmt::format("{} of addresses (ulimit -v), need {}", show_bytes(limits.address_bytes),
                                        show_bytes(needs.memory_bytes())));
    if (limits.locked_bytes < locked_bytes_min)
        add(Severity::note, fmt::format("{} of locked memory (ulimit -l)", show_bytes(limits.locked_bytes)));
    if (const auto score = sys::kernel_text("/proc/self/oom_score_adj"))
        if (const auto number = number_of<int>(words_of(*score).empty() ? "" : words_of(*score)[0]);
            number && *number > 0)
            add(Severity::warn,
                fmt::format("the out-of-memory killer takes this job before others (score {})", *number));
    for (const char* what : {"io", "memory"}) {
        const auto text = sys::kernel_text(fmt::format("/proc/pressure/{}", what).c_str());
        const auto percent = text ? read_pressure(*text) : std::nullopt;
        if (percent && *percent > pressure_percent_max)
            add(Severity::warn, fmt::format("processes waited for {} in {:.0f} % of the last 10 s", what, *percent));
    }
}

}  // namespace forebay::advice
