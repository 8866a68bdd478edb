// The bytes of one file: copied with holes, and compared.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/move/pace.hpp"
#include "core/sys/tree.hpp"

namespace forebay::tree {

/// 512 KiB stay in a core's cache between read and write.
inline constexpr std::uint64_t buffer_bytes = 512u << 10;

/// Files of this size are copied in pieces by all threads. It is two pieces: one thread copies less within 30 ms.
inline constexpr std::uint64_t large_file_bytes = 64u << 20;

/// Shared by all files of a copy.
struct DataWay {
    move::Pace* pace = nullptr;
    const std::atomic<bool>* stop = nullptr;
    /// True while the kernel can copy between these file systems. The first file that it refuses clears it for all.
    std::atomic<bool>* by_kernel = nullptr;
    std::function<void(std::uint64_t bytes)> moved{};
    std::function<void(std::uint64_t bytes)> resumed{};  // already at the target from a killed run
};

/// Copies [begin, end) to the same offsets; of a source with holes only the data. `buffer` is used if the kernel does
/// not copy. If the source ends before `end`, returns without error: the caller checks the source's status.
Result<> copy_bytes(sys::OpenFile& source, sys::OpenFile& target, sys::ByteStretch bytes, bool has_holes,
                    const DataWay& way, std::vector<std::byte>& buffer);

/// Offset of the first difference within `bytes`; `bytes.end` if there is none. Common holes are not read.
Result<std::uint64_t> first_difference(sys::OpenFile& file, sys::OpenFile& other, sys::ByteStretch bytes,
                                       bool have_holes, std::vector<std::byte>& buffer);

/// For a file of size 0: returns `corrupt` if a byte can be read, as in procfs. No error if it has grown meanwhile; the
/// status shows that.
Result<> check_empty(sys::OpenFile& file);

/// For a source whose last read ended at `end`. No error if it was truncated meanwhile; the status shows that. Returns
/// `corrupt` if its file system reports more bytes: the copy would have other bytes there.
Result<> check_ended(sys::OpenFile& source, std::uint64_t end);

/// True if the file uses less storage than its length.
bool has_holes(const sys::EntryStatus& status);

}  // namespace forebay::tree
