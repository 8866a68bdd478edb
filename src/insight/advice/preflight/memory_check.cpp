// The memory that a node has for a run, and the owners of leftover memory. MemFree + Cached counts a tmpfs as cache, so
// MemAvailable is used: with 3 GiB left in /dev/shm the first changed by 0.1 GiB, MemAvailable by 3.1.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/local_file.hpp"
#include "core/sys/machine.hpp"
#include "insight/advice/preflight/node_checks.hpp"

namespace forebay::advice {

namespace {

using format::Severity;

// In a file system in memory, one file takes some microseconds.
constexpr std::size_t leftover_files_max = 50'000;
constexpr int leftover_depth_max = 16;
// Files of this user that are this new belong to the current job: MPI keeps its messages there.
constexpr std::int64_t own_job_ns = 60'000'000'000;
// If the kernel's two counts of free memory differ by more, one of them is wrong.
constexpr double counts_differ_min = 0.1;

struct Sum {
    std::uint64_t bytes = 0;
    std::int64_t modified_unix_ns = 0;
};

// Sums a name and all readable files and directories below it.
Sum bytes_below(const std::string& path, const sys::LocalFile& about, std::size_t& files_left, int depth) {
    Sum sum{about.kind == sys::LocalFile::Kind::file ? about.held_bytes : 0, about.modified_unix_ns};
    if (about.kind != sys::LocalFile::Kind::directory || depth == 0) return sum;
    const auto names = sys::names_in(path);
    if (!names) return sum;
    for (const auto& name : *names) {
        if (files_left == 0) break;
        --files_left;
        const auto inner = sys::look_at(path + "/" + name);
        // Mounts below are other file systems.
        if (!inner || inner->device != about.device) continue;
        const auto below = bytes_below(path + "/" + name, *inner, files_left, depth - 1);
        sum.bytes += below.bytes;
        sum.modified_unix_ns = std::max(sum.modified_unix_ns, below.modified_unix_ns);
    }
    return sum;
}

// For a file system in memory: the leftovers at its top, by owner. Unreadable parts show only in the space used.
void add_leftovers_of(const std::string& place, std::int64_t now, std::vector<LeftInMemory>& leftovers) {
    struct Held {
        LeftInMemory all;
        std::uint64_t largest = 0;
    };
    std::map<std::uint32_t, Held> owners;
    const auto names = sys::names_in(place);
    const auto room = sys::file_system_of(place);
    if (!names || !room) return;
    std::uint64_t seen = 0;
    auto files_left = leftover_files_max;
    for (const auto& name : *names) {
        const auto about = sys::look_at(place + "/" + name);
        if (!about || files_left == 0) continue;
        --files_left;
        const auto sum = bytes_below(place + "/" + name, *about, files_left, leftover_depth_max);
        seen += sum.bytes;
        if (about->owner == sys::user_id() && now - sum.modified_unix_ns < own_job_ns) continue;
        auto& held = owners[about->owner];
        held.all.bytes += sum.bytes;
        // An unreadable directory shows no bytes, but may hold the most.
        const bool is_closed = about->kind == sys::LocalFile::Kind::directory && sum.bytes == 0;
        if (sum.bytes < held.largest && !is_closed) continue;
        held.largest = sum.bytes;
        held.all.name = name;
        held.all.modified_unix_ns = sum.modified_unix_ns;
    }
    for (auto& [owner, held] : owners) {
        // A single owner also owns the unreadable rest.
        if (owners.size() == 1 && room->used_bytes > seen) held.all.bytes += room->used_bytes - seen;
        held.all.place = place;
        held.all.owner = owner;
        if (held.all.bytes > 0) leftovers.push_back(held.all);
    }
}

std::vector<LeftInMemory> look_for_leftovers() {
    std::vector<LeftInMemory> leftovers;
    const auto now = sys::unix_ns();
    const auto mounts =
        read_mountinfo(sys::kernel_text("/proc/self/mountinfo").has_value() ? *sys::kernel_text("/proc/self/mountinfo")
                                                                            : std::string());
    std::vector<std::string> devices;
    for (const auto& mount : mounts) {
        if (mount.kind != "tmpfs" && mount.kind != "ramfs") continue;
        // A file system mounted twice counts once.
        if (std::ranges::find(devices, mount.device) != devices.end()) continue;
        devices.push_back(mount.device);
        add_leftovers_of(mount.place, now, leftovers);
    }
    if (const auto text = sys::kernel_text("/proc/sysvipc/shm"))
        for (const auto& segment : read_shared_segments(*text))
            if (segment.attached == 0 && segment.bytes > 0)
                leftovers.push_back({"SysV", fmt::format("segment {}", segment.number), segment.owner, segment.bytes,
                                     segment.changed_unix_s * 1'000'000'000});
    std::ranges::sort(leftovers, std::ranges::greater(), &LeftInMemory::bytes);
    return leftovers;
}

std::string show_age(std::int64_t ns) {
    const double minutes = static_cast<double>(std::max<std::int64_t>(ns, 0)) / 60e9;
    if (minutes < 120) return fmt::format("{:.0f} min", minutes);
    if (minutes < 48 * 60) return fmt::format("{:.0f} h", minutes / 60);
    return fmt::format("{:.0f} days", minutes / 60 / 24);
}

}  // namespace

std::string show(const LeftInMemory& leftover, std::int64_t now_unix_ns) {
    return fmt::format("{} in {} left by {} ({}, {} old)", show_bytes(leftover.bytes), leftover.place,
                       sys::user_name(leftover.owner), leftover.name,
                       show_age(now_unix_ns - leftover.modified_unix_ns));
}

std::uint64_t Memory::with_host() const {
    std::uint64_t with_kernel = 0;
    for (const auto& node : numa) with_kernel += node.total;
    return numa.empty() || with_kernel >= machine.total ? 0 : std::min(machine.total - with_kernel, machine.free);
}

bool Memory::lists_differ() const {
    if (!buddies) return false;
    const auto difference = static_cast<double>(buddies->free_bytes + with_host()) - static_cast<double>(machine.free);
    return std::abs(difference) > counts_differ_min * static_cast<double>(machine.total);
}

std::uint64_t Memory::usable() const {
    const auto available = machine.available.value_or(machine.free);
    auto least = available;
    if (buddies && !lists_differ())
        least = std::min(least, available - std::min(available, machine.free) + buddies->free_bytes + with_host());
    if (group_left) least = std::min(least, *group_left);
    return least;
}

Memory look_at_memory() {
    Memory memory;
    if (const auto text = sys::kernel_text("/proc/meminfo")) memory.machine = read_meminfo(*text);
    if (const auto text = sys::kernel_text("/proc/buddyinfo")) memory.buddies = read_buddyinfo(*text);
    memory.group_left = sys::group_memory_left();
    for (int node = 0; node < 1024; ++node) {
        const auto text = sys::kernel_text(fmt::format("/sys/devices/system/node/node{}/meminfo", node).c_str());
        if (!text) break;
        memory.numa.push_back(read_meminfo(*text));
    }
    memory.leftovers = look_for_leftovers();
    return memory;
}

void judge_memory(const Memory& memory, const Needs& needs, const Rules& rules, std::int64_t now_unix_ns,
                  std::vector<format::Finding>& findings) {
    const auto usable = memory.usable(), need = needs.memory_bytes();
    const auto& rule = rules.of(CheckKind::memory);
    if (memory.machine.total == 0) {
        rules.add(findings, CheckKind::memory, {.severity = Severity::warn, .text = "/proc/meminfo is empty"});
        return;
    }
    const auto share = [&](double more) { return static_cast<double>(need) * (1 + more); };
    if (static_cast<double>(usable) < share(rule.warn)) {
        auto text = fmt::format("{} free, need {}", show_bytes(usable), show_bytes(need));
        if (!memory.leftovers.empty()) text += ": " + show(memory.leftovers.front(), now_unix_ns);
        else if (memory.group_left && *memory.group_left == usable) text += ": the limit of the job's control group";
        rules.add(findings, CheckKind::memory,
                  {.severity = static_cast<double>(usable) < share(rule.fail) ? Severity::fail : Severity::warn,
                   .text = std::move(text)});
    }
    // An exhausted NUMA node slows ranks that use its memory.
    for (std::size_t i = 0; memory.numa.size() > 1 && i < memory.numa.size(); ++i) {
        const auto part = need / memory.numa.size();
        const auto& node = memory.numa[i];
        if (node.total > 0 && node.free + node.shared / 2 < part / 2 && node.total >= part)
            rules.add(findings, CheckKind::memory,
                      {.severity = Severity::warn,
                       .text = fmt::format("NUMA node {} has {} free of {}", i, show_bytes(node.free),
                                           show_bytes(node.total))});
    }
    if (memory.lists_differ())
        rules.add(findings, CheckKind::memory,
                  {.severity = Severity::warn,
                   .text = fmt::format("MemFree is {}, but the kernel's lists of free pages (/proc/buddyinfo) have "
                                       "only {}: a run may get less than MemFree. Exclude this node, or restart it",
                                       show_bytes(memory.machine.free),
                                       show_bytes(memory.buddies->free_bytes + memory.with_host()))});
}

}  // namespace forebay::advice
