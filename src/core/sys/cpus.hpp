// Which CPUs the threads of this process may run on.

#pragma once

#include <bitset>
#include <string>

namespace forebay::sys {

inline constexpr unsigned cpus_max = 8192;  // the largest NR_CPUS that Linux can be built with on x86-64

using CpuSet = std::bitset<cpus_max>;

/// What the calling thread may run on, and what the threads of the program's OpenMP may: a runtime that binds its
/// threads (OMP_PROC_BIND) leaves the first one a single core, before main() begins.
CpuSet own_cpus();

/// Of each core one of its hardware threads, the first of those that are in `cpus`: the others add nothing to a copy.
/// All of them where the machine does not tell, in `root`, which belong together.
CpuSet one_of_each_core(const CpuSet& cpus, const std::string& root = "/sys/devices/system/cpu");

/// On which of them the calling thread runs now; -1 where nobody tells.
int current_cpu();

/// As in "0-3,8".
std::string show_cpus(const CpuSet& cpus);

}  // namespace forebay::sys
