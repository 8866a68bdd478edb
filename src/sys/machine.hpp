// The machine and its user: names, random numbers, the terminal, free space.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::sys {

std::string host_name();
std::string user_name();
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
Result<std::string> file_system_of(const std::string& path);
/// What is mounted where a path lies, as the kernel tells it: "ext4 /dev/vda on /scratch (rw,relatime,stripe=128)";
/// empty where it does not tell.
std::string mount_of(const std::string& path);
/// The same of the text of /proc/self/mountinfo, for device `major`:`minor`.
std::string mount_in(std::string_view mountinfo, unsigned major, unsigned minor);

}  // namespace forebay::sys
