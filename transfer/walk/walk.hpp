// Reads the status of every entry of a tree on all threads: counts, sizes and entries that need care.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "transfer/copy/entry_log.hpp"
#include "transfer/tables/table_limits.hpp"
#include "transfer/walk/filter.hpp"

namespace forebay::tree {

class Coordinator;

struct WalkCounts {
    std::array<std::atomic<std::uint64_t>, 8> of_kind{};      // by EntryKind; directories include the root
    std::atomic<std::uint64_t> bytes{0}, allocated_bytes{0};  // of inodes: an inode with three names counts once
    std::atomic<std::uint64_t> file_bytes{0};                 // the same, only regular files
    std::atomic<std::uint64_t> further_names{0};              // hard links after the first
    std::atomic<std::uint64_t> summed_bytes{0};               // read for checksums
    std::atomic<std::uint64_t> released{0};                   // files with bytes only in an archive (HSM)
    std::atomic<std::uint64_t> with_holes{0}, largest_bytes{0}, deepest{0};
};

struct WalkedEntry {
    std::string path;
    sys::EntryStatus status;
    bool is_released = false;  // only an archive has its bytes (HSM)
};

struct FileSum;

/// Status to read for an entry that is no directory, beside the listing.
enum class WalkLook { status, file_bytes, nothing };

struct WalkOptions {
    std::uint32_t threads = 1;
    EntryFilter filter{};
    PathList* wished = nullptr;  // paths of a list; null: all
    WalkLook look = WalkLook::status;
    bool counts_each_name = false;            // an inode with three names counts three times
    const std::atomic<bool>* stop = nullptr;  // if set, no new work begins
    bool one_file_system = false;
    bool recalls = false;  // reads files from the archive (HSM) for their checksums
    /// Called with entries of one directory, by one thread at a time. May be empty.
    std::function<Result<>(std::span<const WalkedEntry>)> take{};
    /// Called with the checksum of each regular file, by one thread at a time. May be empty.
    std::function<Result<>(const FileSum&)> take_sum{};
    TableLimits tables{};
    std::function<void(const WalkCounts&)> watch{};
    Coordinator* lead = nullptr;  // coordinator of other processes that share the work
};

Result<> walk_tree(const std::string& path, const WalkOptions& options, EntryLog& entry_log, WalkCounts& counts);
/// The same for an open tree, only in this process.
Result<> walk_open_tree(FolderRef folder, const WalkOptions& options, EntryLog& entry_log, WalkCounts& counts);

}  // namespace forebay::tree
