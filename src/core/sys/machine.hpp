// The machine and its user: names, random numbers, the terminal, memory and room that are left, what the kernel tells.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::sys {

std::string host_name();
std::string user_name();
/// "uid1000" where nobody has that number, as in containers.
std::string user_name(std::uint32_t user_id);
std::uint32_t user_id();

/// What the kernel calls this machine's processor: its model, or on Arm, which names none, its architecture.
std::string processor_name();
/// The NUMA node on which the calling thread runs at this moment.
std::uint32_t numa_node();

/// Which start of this machine's kernel this is; empty where nobody tells.
std::string boot_id();

/// Which file a path leads to, as long as this kernel runs; empty when there is none.
std::string file_id(const std::string& path);

/// A 64-bit number from the kernel's random source.
std::uint64_t random_u64();

enum class Output { standard, error };
/// Whether a person looks at this output: whether it is a terminal.
bool is_terminal(Output output);
/// Characters of a line of the terminal on standard output; 0 where that is none.
int terminal_columns();

/// Bytes free for this user on the file system of `path`.
Result<std::uint64_t> free_bytes(const std::string& path);

/// The kind of file system that `path`, or the nearest directory above it that exists, lies on: "ext4", "lustre"; of a
/// kind that we have no name for its number, "0x9123683e".
Result<std::string> file_system_kind(const std::string& path);
/// What is mounted where a path lies, as the kernel tells it: "ext4 /dev/vda on /scratch (rw,relatime,stripe=128)";
/// empty where it does not tell.
std::string mount_of(const std::string& path);
/// The same of the text of /proc/self/mountinfo, for device `major`:`minor`.
std::string mount_in(std::string_view mountinfo, unsigned major, unsigned minor);
struct FileSystem {
    std::uint64_t bytes = 0, used_bytes = 0;
    std::uint64_t free_bytes = 0;             // for this user
    std::uint64_t files = 0, files_free = 0;  // both 0 where it does not count them
    bool may_execute = true;
};
Result<FileSystem> file_system_of(const std::string& path);

/// A file of /proc or /sys, whose size is not known before.
Result<std::string> kernel_text(const char* path);

/// The least that is left of the memory limits of this process's control groups, of either version; none without one.
std::optional<std::uint64_t> group_memory_left();

/// Of this process, by its soft limits; 2^64 - 1 is none.
struct ProcessLimits {
    std::uint64_t open_files = 0, locked_bytes = 0, core_bytes = 0, address_bytes = 0;
};
ProcessLimits process_limits();

/// What follows is done in a directory by a child process: where that has not ended after `at_most`, the answer is
/// `retry` and the child, which may be stuck in the kernel for good, is killed and left alone. So this process can end.

enum class Touch { look, write };
/// Whether a directory answers: looks at it and, to `write`, makes a file in it and removes it.
Result<> touch(const std::string& directory, Touch how, std::chrono::milliseconds at_most);

struct TimedWrite {
    std::uint64_t bytes = 0;
    double seconds = 0;
};
/// A file without a name gets `bytes`, `piece` again and again, past the page cache where the file system can, and is
/// synced. After `seconds_max` no more is written. Whole pages, as `piece` begins at one.
Result<TimedWrite> timed_write(const std::string& directory, std::span<const std::byte> piece, std::uint64_t bytes,
                               double seconds_max, std::chrono::milliseconds at_most);

/// So many files are made, looked at and removed, in a new directory of their own: the seconds of each. At most
/// timed_files_max; fewer where half of `at_most` has gone.
inline constexpr std::size_t timed_files_max = 100;
Result<std::vector<double>> timed_files(const std::string& directory, std::size_t count,
                                        std::chrono::milliseconds at_most);

}  // namespace forebay::sys
