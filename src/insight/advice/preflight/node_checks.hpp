// The checks that a node makes of itself: memory, staging, mounts and agents, limits. What the machine tells and what
// follows from it are two steps, so that the second is tested with machines that nobody has.
//
// Threads: any. Nothing here waits longer than the deadlines of its rules, but for files of /proc.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "insight/advice/preflight/ask.hpp"
#include "insight/advice/preflight/node_texts.hpp"
#include "insight/advice/preflight/rules.hpp"

namespace forebay::advice {

/// What somebody has left in memory that no process needs to be alive for.
struct LeftInMemory {
    std::string place;  // "/dev/shm"; "SysV"
    std::string name;   // of the largest that this owner has there
    std::uint32_t owner = 0;
    std::uint64_t bytes = 0;  // of all that this owner has there
    std::int64_t modified_unix_ns = 0;
};

struct Memory {
    Meminfo machine;
    std::optional<Buddies> buddies;
    std::optional<std::uint64_t> group_left;
    std::vector<Meminfo> numa;
    std::vector<LeftInMemory> leftovers;  // largest first

    /// Memory that a virtual machine's host has taken back until it is touched. MemTotal and MemFree count it, and no
    /// NUMA node and no list of free pages does.
    std::uint64_t with_host() const;
    /// Whether the kernel's lists of free pages, with what the host has, are a tenth of the memory from MemFree: then
    /// they are no measure.
    bool lists_differ() const;
    /// What a run can take: the least of MemAvailable, the same with those lists in place of MemFree, and what is left
    /// of the limits of control groups. The lists alone would count cached files, which are given up for memory that is
    /// needed, as taken.
    std::uint64_t usable() const;
};

Memory look_at_memory();
void judge_memory(const Memory& memory, const Needs& needs, const Rules& rules, std::int64_t now_unix_ns,
                  std::vector<format::Finding>& findings);

/// Room and inodes for the slots, limits of the tmpfs, leftovers.
void check_staging(const Memory& memory, const Needs& needs, const Rules& rules, std::int64_t now_unix_ns,
                   std::vector<format::Finding>& findings);

/// Mounts of other hosts and processes, staging and target answer; agents of DAOS are as many as they should be. The
/// directories of the needs that did not answer are taken out of them: nothing touches those again.
void check_mounts(Needs& needs, const Rules& rules, std::vector<format::Finding>& findings);

void check_limits(const Needs& needs, const Rules& rules, std::vector<format::Finding>& findings);

/// "9.8 GB in /dev/shm left by ann (checkpoint.NVRAM, 3 h old)"
std::string show(const LeftInMemory& leftover, std::int64_t now_unix_ns);

/// 53 bits that differ, but by chance, where the texts do: they cross as a number of JSON.
std::uint64_t short_hash(std::string_view text);

}  // namespace forebay::advice
