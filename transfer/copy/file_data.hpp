// The bytes of one file: copied with its holes, and compared.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/move/pace.hpp"
#include "core/sys/tree.hpp"

namespace forebay::tree {

/// Half a mebibyte stays in the cache of a core between read and write.
inline constexpr std::uint64_t buffer_bytes = 512u << 10;

/// A file of so many bytes is copied in pieces by all threads. Two pieces: what one thread copies alone takes 30 ms.
inline constexpr std::uint64_t large_file_bytes = 64u << 20;

/// What all copies of a mover share.
struct DataWay {
    move::Pace* pace = nullptr;
    const std::atomic<bool>* stop = nullptr;
    /// Whether the kernel copies between these two file systems: the first file that it refuses clears it for all.
    std::atomic<bool>* by_kernel = nullptr;
    std::function<void(std::uint64_t bytes)> moved{};
    std::function<void(std::uint64_t bytes)> resumed{};  // not moved: the target has them from a run that was killed
};

/// Copies [begin, end) to the same place, and of a source with holes its data alone; `buffer` is used where the kernel
/// does not copy. A source that ends before `end` is copied up to its end: its status tells afterwards.
Result<> copy_bytes(sys::OpenFile& source, sys::OpenFile& target, sys::ByteStretch bytes, bool has_holes,
                    const DataWay& way, std::vector<std::byte>& buffer);

/// Where two files differ first within `bytes`; `bytes.end` where nowhere. Holes of both are not read.
Result<std::uint64_t> first_difference(sys::OpenFile& file, sys::OpenFile& other, sys::ByteStretch bytes,
                                       bool have_holes, std::vector<std::byte>& buffer);

/// Of a file that has no bytes, says its file system: `corrupt` where one is read, as in procfs. Fine where it was
/// written to meanwhile, which its status tells.
Result<> check_empty(sys::OpenFile& file);

/// Of a source whose last read ended at `end`: fine where it was cut meanwhile, which its status tells. `corrupt` where
/// its file system says that there is more: it would be copied with something else in place of what is missing.
Result<> check_ended(sys::OpenFile& source, std::uint64_t end);

/// Whether a file has fewer bytes on storage than it is long.
bool has_holes(const sys::EntryStatus& status);

}  // namespace forebay::tree
