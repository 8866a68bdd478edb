// Where tables go on that have grown too large for memory: a file without a name in TMPDIR, or else in /var/tmp or
// /tmp. None is made before something is written. It is read and written by calls and not mapped: so its bytes count
// for no limit of memory, and a full disk is an error.
//
// Threads: one at a time; read() by any at once, while nobody writes.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/sys/plain_file.hpp"

namespace forebay::tree {

class SpillFile {
public:
    Result<> write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Of what was written.
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes);

private:
    std::optional<sys::PlainFile> file_;
};

}  // namespace forebay::tree
