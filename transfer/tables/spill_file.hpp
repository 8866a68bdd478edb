// Room for tables that outgrow memory: an unnamed file in TMPDIR, or if that is not set in /var/tmp or /tmp. The first
// write makes it. It is read and written by system calls, not mapped: so its bytes count for no memory limit, and a
// full disk is an error.
//
// Threads: one at a time; read() by any number of threads at once, while no thread writes.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/sys/plain_file.hpp"

namespace forebay::tree {

class SpillFile {
public:
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// The bytes must have been written before.
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes);

private:
    std::optional<sys::PlainFile> file_;
};

}  // namespace forebay::tree
