// The machine and its user: names, random numbers, the terminal, free memory and space, and texts of the kernel.

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
/// "uid1000" if the number has no account, as in containers.
std::string user_name(std::uint32_t user_id);
std::uint32_t user_id();

/// The kernel's name for the processor: its model, or its architecture on Arm, which has no model name.
std::string processor_name();
/// The NUMA node of the calling thread at this moment.
std::uint32_t numa_node();

/// Identifies this boot of the machine; empty if unknown.
std::string boot_id();

/// Identifies the file behind a path while this kernel runs; empty if there is none.
std::string file_id(const std::string& path);

/// A 64-bit number from the kernel's random source.
std::uint64_t random_u64();

enum class Output { standard, error };
/// True if this output is a terminal.
bool is_terminal(Output output);
/// Columns of the terminal on standard output; 0 if it is not a terminal.
int terminal_columns();

/// Bytes free for this user on the file system of `path`.
Result<std::uint64_t> free_bytes(const std::string& path);

/// The kind of file system of `path`, or of the nearest existing directory above it: "ext4", "lustre". A kind without a
/// name is its number, "0x9123683e".
Result<std::string> file_system_kind(const std::string& path);
/// The mount of a path, as the kernel reports it: "ext4 /dev/vda on /scratch (rw,relatime,stripe=128)"; empty if
/// unknown.
std::string mount_of(const std::string& path);
/// The same from the text of /proc/self/mountinfo, for device `major`:`minor`.
std::string mount_in(std::string_view mountinfo, unsigned major, unsigned minor);
struct FileSystem {
    std::uint64_t bytes = 0, used_bytes = 0;
    std::uint64_t free_bytes = 0;             // for this user
    std::uint64_t files = 0, files_free = 0;  // both 0 if it does not count files
    bool may_execute = true;
};
Result<FileSystem> file_system_of(const std::string& path);

/// The content of a file of /proc or /sys, whose size is not known before.
Result<std::string> kernel_text(const char* path);

/// The smallest rest of the memory limits of this process's control groups, of either version; empty without a limit.
std::optional<std::uint64_t> group_memory_left();

/// Soft limits of this process; 2^64 - 1: no limit.
struct ProcessLimits {
    std::uint64_t open_files = 0, locked_bytes = 0, core_bytes = 0, address_bytes = 0;
};
ProcessLimits process_limits();

/// A child process does the following work in a directory. If it has not ended after `at_most`, the result is `retry`.
/// The child may be stuck in the kernel, so it is killed and not waited for. Then this process can end.

enum class Touch { look, write };
/// Checks that a directory answers: looks at it and, with `write`, makes a file in it and removes it.
Result<> touch(const std::string& directory, Touch how, std::chrono::milliseconds at_most);

/// The size of a block of a new file there, as stat(2) reports it: on dfuse the chunk of its container.
Result<std::uint64_t> file_block_bytes(const std::string& directory, std::chrono::milliseconds at_most);

struct TimedWrite {
    std::uint64_t bytes = 0;
    double seconds = 0;
};
/// Writes `piece` again and again to a nameless file, up to `bytes`, past the page cache if possible, and syncs the
/// file. Stops writing after `seconds_max`. `piece` begins at a page; sizes are whole pages.
Result<TimedWrite> timed_write(const std::string& directory, std::span<const std::byte> piece, std::uint64_t bytes,
                               double seconds_max, std::chrono::milliseconds at_most);

/// Makes, looks at and removes `count` files in a new directory; returns the seconds for each. At most timed_files_max,
/// and fewer after half of `at_most`.
inline constexpr std::size_t timed_files_max = 100;
Result<std::vector<double>> timed_files(const std::string& directory, std::size_t count,
                                        std::chrono::milliseconds at_most);

}  // namespace forebay::sys
