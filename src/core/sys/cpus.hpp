// The CPUs on which threads of this process may run.

#pragma once

#include <bitset>
#include <string>

namespace forebay::sys {

inline constexpr unsigned cpus_max = 8192;  // the largest NR_CPUS of Linux on x86-64

using CpuSet = std::bitset<cpus_max>;

/// The CPUs of the calling thread, and the CPUs of the program's OpenMP threads. An OpenMP runtime that binds its
/// threads (OMP_PROC_BIND) leaves the first thread a single core, before main() begins.
CpuSet own_cpus();

/// Keeps one hardware thread of each core, the first in `cpus`: its siblings add nothing to a copy. Keeps all CPUs if
/// `root` does not show the siblings.
CpuSet one_of_each_core(const CpuSet& cpus, const std::string& root = "/sys/devices/system/cpu");

/// The CPU on which the calling thread runs now; -1 if unknown.
int current_cpu();

/// Text such as "0-3,8".
std::string show_cpus(const CpuSet& cpus);

}  // namespace forebay::sys
