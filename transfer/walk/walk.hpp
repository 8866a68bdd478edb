// Looks at every entry of a tree, by all threads: what there is, how much, and what needs care.

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
    std::array<std::atomic<std::uint64_t>, 8> of_kind{};      // by EntryKind; folders with the root
    std::atomic<std::uint64_t> bytes{0}, allocated_bytes{0};  // of inodes: an inode of three names counts once
    std::atomic<std::uint64_t> file_bytes{0};                 // the same, of regular files alone
    std::atomic<std::uint64_t> further_names{0};              // hard links beside the first
    std::atomic<std::uint64_t> summed_bytes{0};               // read for checksums
    std::atomic<std::uint64_t> released{0};                   // files whose bytes an archive alone has (HSM)
    std::atomic<std::uint64_t> with_holes{0}, largest_bytes{0}, deepest{0};
};

struct WalkedEntry {
    std::string path;
    sys::EntryStatus status;
    bool is_released = false;  // an archive alone has its bytes (HSM)
};

struct FileSum;

/// What is asked of an entry that is no folder, beside what listings tell.
enum class WalkLook { status, file_bytes, nothing };

struct WalkOptions {
    std::uint32_t threads = 1;
    EntryFilter filter{};
    PathList* wished = nullptr;  // of a list; null: all
    WalkLook look = WalkLook::status;
    bool counts_each_name = false;            // an inode of three names counts three times
    const std::atomic<bool>* stop = nullptr;  // what has not begun is not begun any more
    bool one_file_system = false;
    bool recalls = false;  // for their checksums files are read whose bytes an archive alone has (HSM)
    /// Gets entries of one folder at a time, from one thread at a time; none where it is empty.
    std::function<Result<>(std::span<const WalkedEntry>)> take{};
    /// Gets the checksum of each regular file, from one thread at a time; none where it is empty.
    std::function<Result<>(const FileSum&)> take_sum{};
    TableLimits tables{};
    std::function<void(const WalkCounts&)> watch{};
    Coordinator* lead = nullptr;  // of other processes that share the work
};

Result<> walk_tree(const std::string& path, const WalkOptions& options, EntryLog& entry_log, WalkCounts& counts);
/// The same of a tree that is open, by this process alone.
Result<> walk_open_tree(FolderRef folder, const WalkOptions& options, EntryLog& entry_log, WalkCounts& counts);

}  // namespace forebay::tree
