// On which CPUs a process runs, and whether it waits for its turn there.

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "sys/posix_fd.hpp"
#include "sys/process.hpp"

namespace forebay::sys {

namespace {

constexpr unsigned cpus_max = 8192;  // the largest NR_CPUS that Linux can be built with on x86-64

struct CpuSet {
    cpu_set_t bits[cpus_max / CPU_SETSIZE];
};

/// Reads one number of the list and moves `text` past it.
bool take_number(std::string_view& text, unsigned& number) {
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc() || number >= cpus_max) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take_char(std::string_view& text, char wanted) {
    if (text.empty() || text.front() != wanted) return false;
    text.remove_prefix(1);
    return true;
}

bool parse_cpus(std::string_view text, CpuSet& set) {
    CPU_ZERO_S(sizeof set, set.bits);
    do {
        unsigned first = 0;
        if (!take_number(text, first)) return false;
        unsigned last = first;
        if (take_char(text, '-') && (!take_number(text, last) || last < first)) return false;
        for (unsigned cpu = first; cpu <= last; ++cpu) CPU_SET_S(cpu, sizeof set, set.bits);
    } while (take_char(text, ','));
    return text.empty();
}

}  // namespace

Result<> pin_to_cpus(const std::string& cpu_list) {
    if (cpu_list.empty()) return {};
    CpuSet set{};
    if (!parse_cpus(cpu_list == "all" ? fmt::format("0-{}", cpus_max - 1) : cpu_list, set))
        return Error{
            ErrorKind::refused,
            fmt::format("CPU list \"{}\" is not of the form \"0-3,8\" with numbers below {}", cpu_list, cpus_max)};
    // Every thread by itself: sched_setaffinity(0) would pin the calling one only.
    std::error_code failed;
    std::filesystem::directory_iterator task("/proc/self/task", failed);
    for (; !failed && task != std::filesystem::directory_iterator(); task.increment(failed)) {
        const auto name = task->path().filename().string();
        pid_t thread = 0;
        std::from_chars(name.data(), name.data() + name.size(), thread);
        if (::sched_setaffinity(thread, sizeof set, set.bits) == 0 || errno == ESRCH) continue;
        if (errno != EINVAL) return posix_error("sched_setaffinity to " + cpu_list, name, errno);
        return Error{ErrorKind::refused,
                     fmt::format("pin to CPUs {}: none of them may be used by this process", cpu_list)};
    }
    return failed ? Result<>(posix_error("readdir", "/proc/self/task", failed.value())) : Result<>();
}

int cpus_allowed() {
    CpuSet set{};
    return ::sched_getaffinity(0, sizeof set, set.bits) == 0 ? CPU_COUNT_S(sizeof set, set.bits) : 1;
}

int cpus_online() { return static_cast<int>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L)); }

// What fails leaves the thread where it is, which is no worse than before.
void take_cpu(std::uint64_t turn) {
    CpuSet allowed{}, one{};
    if (::sched_getaffinity(0, sizeof allowed, allowed.bits) != 0) return;
    auto left = turn % static_cast<std::uint64_t>(CPU_COUNT_S(sizeof allowed, allowed.bits));
    unsigned cpu = 0;
    while (!CPU_ISSET_S(cpu, sizeof allowed, allowed.bits) || left-- > 0) ++cpu;
    CPU_SET_S(cpu, sizeof one, one.bits);
    (void)::sched_setaffinity(0, sizeof one, one.bits);
    (void)::sched_setaffinity(0, sizeof allowed, allowed.bits);
}

Result<> give_way() {
    if (::sched_getscheduler(0) == SCHED_IDLE) return {};  // gives way more still, and may not be changed
    const sched_param none{};
    if (::sched_setscheduler(0, SCHED_BATCH, &none) != 0)
        return posix_error("sched_setscheduler to SCHED_BATCH", "this thread", errno);
    return {};
}

}  // namespace forebay::sys
