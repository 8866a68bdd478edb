// The CPUs of a process, and how it waits for its turn there.

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "core/sys/cpus.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/process.hpp"
#include "core/sys/thread.hpp"

namespace forebay::sys {

namespace {

// A cpu_set_t by itself holds only 1,024 CPUs.
struct KernelCpus {
    cpu_set_t bits[cpus_max / CPU_SETSIZE];
};

CpuSet of_kernel(const KernelCpus& given) {
    CpuSet cpus;
    for (unsigned cpu = 0; cpu < cpus_max; ++cpu) cpus[cpu] = CPU_ISSET_S(cpu, sizeof given, given.bits) != 0;
    return cpus;
}

KernelCpus for_kernel(const CpuSet& cpus) {
    KernelCpus given{};
    for (unsigned cpu = 0; cpu < cpus_max; ++cpu)
        if (cpus[cpu]) CPU_SET_S(cpu, sizeof given, given.bits);
    return given;
}

// The CPUs of the calling thread; none if unknown.
CpuSet thread_cpus() {
    KernelCpus given{};
    return ::sched_getaffinity(0, sizeof given, given.bits) == 0 ? of_kernel(given) : CpuSet();
}

// The places of the program's OpenMP, of any runtime: the standard defines these three functions, so each runtime has
// them by these names.
CpuSet openmp_cpus() {
    const auto count = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "omp_get_num_places"));
    const auto size = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_DEFAULT, "omp_get_place_num_procs"));
    const auto list = reinterpret_cast<void (*)(int, int*)>(::dlsym(RTLD_DEFAULT, "omp_get_place_proc_ids"));
    CpuSet cpus;
    if (count == nullptr || size == nullptr || list == nullptr) return cpus;
    std::vector<int> ids;
    for (int place = 0; place < count(); ++place) {
        ids.assign(static_cast<std::size_t>(std::max(size(place), 0)), -1);
        if (!ids.empty()) list(place, ids.data());
        for (const int cpu : ids)
            if (cpu >= 0 && cpu < static_cast<int>(cpus_max)) cpus.set(static_cast<std::size_t>(cpu));
    }
    return cpus;
}

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

bool parse_cpus(std::string_view text, KernelCpus& set) {
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
    KernelCpus set{};
    if (!parse_cpus(cpu_list == "all" ? fmt::format("0-{}", cpus_max - 1) : cpu_list, set))
        return Error{
            ErrorKind::refused,
            fmt::format("CPU list \"{}\" is not of the form \"0-3,8\" with numbers below {}", cpu_list, cpus_max)};
    // Each thread separately: sched_setaffinity(0) would pin only the calling thread.
    std::error_code failed;
    std::filesystem::directory_iterator task("/proc/self/task", failed);
    for (; !failed && task != std::filesystem::directory_iterator(); task.increment(failed)) {
        const auto name = task->path().filename().string();
        pid_t thread = 0;
        std::from_chars(name.data(), name.data() + name.size(), thread);
        // ESRCH: the thread has ended meanwhile.
        if (::sched_setaffinity(thread, sizeof set, set.bits) == 0 || errno == ESRCH) continue;
        if (errno != EINVAL) return posix_error("sched_setaffinity to " + cpu_list, name, errno);
        return Error{ErrorKind::refused, fmt::format("pin to CPUs {}: this process may not use these CPUs", cpu_list)};
    }
    return failed ? Result<>(posix_error("readdir", "/proc/self/task", failed.value())) : Result<>();
}

int cpus_allowed() {
    KernelCpus set{};
    return ::sched_getaffinity(0, sizeof set, set.bits) == 0 ? CPU_COUNT_S(sizeof set, set.bits) : 1;
}

CpuSet own_cpus() { return thread_cpus() | openmp_cpus(); }

CpuSet one_of_each_core(const CpuSet& cpus, const std::string& root) {
    auto cores = cpus;
    for (unsigned cpu = 0; cpu < cpus_max; ++cpu) {
        if (!cores[cpu]) continue;
        const auto text = kernel_text(fmt::format("{}/cpu{}/topology/thread_siblings_list", root, cpu).c_str());
        KernelCpus siblings{};
        // A CPU without a list of siblings counts as a core.
        if (!text || !parse_cpus(text->substr(0, text->find('\n')), siblings)) continue;
        cores &= ~of_kernel(siblings);
        cores.set(cpu);
    }
    return cores;
}

std::string show_cpus(const CpuSet& cpus) {
    std::string text;
    for (unsigned cpu = 0; cpu < cpus_max; ++cpu) {
        if (!cpus[cpu]) continue;
        unsigned last = cpu;
        while (last + 1 < cpus_max && cpus[last + 1]) ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ",", cpu);
        if (last > cpu) text += fmt::format("-{}", last);
        cpu = last;
    }
    return text;
}

// In this file, because it needs the kernel's form of a set.
Result<> Thread::keep_on(const CpuSet& cpus) {
    const auto given = for_kernel(cpus);
    const int failed = ::pthread_setaffinity_np(thread_.native_handle(), sizeof given, given.bits);
    if (failed != 0) return posix_error("pthread_setaffinity_np to CPUs " + show_cpus(cpus), "a thread", failed);
    return {};
}

int current_cpu() { return ::sched_getcpu(); }

int cpus_online() { return static_cast<int>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L)); }

// A failure leaves the thread on its CPU, which is no worse than before.
void take_cpu(std::uint64_t turn) {
    KernelCpus allowed{}, single{};
    if (::sched_getaffinity(0, sizeof allowed, allowed.bits) != 0) return;
    auto left = turn % static_cast<std::uint64_t>(CPU_COUNT_S(sizeof allowed, allowed.bits));
    unsigned cpu = 0;
    while (!CPU_ISSET_S(cpu, sizeof allowed, allowed.bits) || left-- > 0) ++cpu;
    CPU_SET_S(cpu, sizeof single, single.bits);
    // The first call moves the thread; the second allows all CPUs again.
    (void)::sched_setaffinity(0, sizeof single, single.bits);
    (void)::sched_setaffinity(0, sizeof allowed, allowed.bits);
}

Result<> give_way() {
    if (::sched_getscheduler(0) == SCHED_IDLE) return {};  // yields even more, and may not be changed
    const sched_param none{};
    if (::sched_setscheduler(0, SCHED_BATCH, &none) != 0)
        return posix_error("sched_setscheduler to SCHED_BATCH", "this thread", errno);
    return {};
}

}  // namespace forebay::sys
