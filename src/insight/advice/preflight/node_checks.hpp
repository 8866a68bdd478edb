// The checks that a node makes of itself: memory, staging, mounts and agents, limits. Reading the machine and judging
// it are separate steps, so that tests can judge made machines.
//
// Threads: any. All waits end with the deadlines of the rules, except reads of /proc.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "insight/advice/preflight/ask.hpp"
#include "insight/advice/preflight/node_texts.hpp"
#include "insight/advice/preflight/rules.hpp"

namespace forebay::advice {

/// Leftover memory that needs no live process.
struct LeftInMemory {
    std::string place;  // "/dev/shm"; "SysV"
    std::string name;   // the owner's largest item there
    std::uint32_t owner = 0;
    std::uint64_t bytes = 0;  // all of the owner's items there
    std::int64_t modified_unix_ns = 0;
};

struct Memory {
    Meminfo machine;
    std::optional<Buddies> buddies;
    std::optional<std::uint64_t> group_left;
    std::vector<Meminfo> numa;
    std::vector<LeftInMemory> leftovers;  // largest first

    /// Memory that a virtual machine's host holds until it is touched. MemTotal and MemFree count it, but NUMA nodes
    /// and lists of free pages do not.
    std::uint64_t with_host() const;
    /// True if the kernel's lists of free pages plus the host's part differ from MemFree by a tenth of the memory. Then
    /// the lists are ignored.
    bool lists_differ() const;
    /// The memory a run can get, the least of three: MemAvailable; the same with those lists instead of MemFree; and
    /// the rest of control group limits. The lists alone would count cached files as used, but the kernel gives them
    /// up.
    std::uint64_t usable() const;
};

Memory look_at_memory();
void judge_memory(const Memory& memory, const Needs& needs, const Rules& rules, std::int64_t now_unix_ns,
                  std::vector<format::Finding>& findings);

/// Space and inodes for the slots, limits of the tmpfs, leftovers.
void check_staging(const Memory& memory, const Needs& needs, const Rules& rules, std::int64_t now_unix_ns,
                   std::vector<format::Finding>& findings);

/// Checks that mounts of other hosts and processes, staging and target answer, and that DAOS has the right number of
/// agents. Clears directories in `needs` that did not answer, so that nothing touches them again.
void check_mounts(Needs& needs, const Rules& rules, std::vector<format::Finding>& findings);

void check_limits(const Needs& needs, const Rules& rules, std::vector<format::Finding>& findings);

/// "9.8 GB in /dev/shm left by ann (checkpoint.NVRAM, 3 h old)"
std::string show(const LeftInMemory& leftover, std::int64_t now_unix_ns);

/// 53 bits, almost surely different for different texts: a JSON number holds them.
std::uint64_t short_hash(std::string_view text);

}  // namespace forebay::advice
