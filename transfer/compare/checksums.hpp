// Lists of checksums of a tree's regular files, for a check years later or of another copy. A line has the CRC32C of a
// file in 8 hexadecimal digits, its size in bytes, and its path below the root. In the path \\ is a backslash, \n a
// line end and \r a carriage return. The first line is checksums_title. Lines have no order.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/compare/compare.hpp"
#include "transfer/walk/work_share.hpp"

namespace forebay::tree {

inline constexpr std::string_view checksums_title = "# forebay checksums 1, CRC32C";

struct FileSum {
    std::string path;
    std::uint64_t bytes = 0;
    std::uint32_t crc32c = 0;
};

/// Without a line end.
std::string line_of(const FileSum& sum);
/// Returns `corrupt` for a line that line_of() does not write.
Result<FileSum> file_sum_from(std::string_view line);

/// Reads the file. Returns `retry` if it changed meanwhile. Holes count as zeros.
Result<FileSum> sum_of(sys::OpenFile& file, std::string path, std::vector<std::byte>& buffer);

struct CheckOptions {
    std::uint32_t threads = 1;
    EntryFilter filter{};
    bool reads_bytes = true;       // false: compares only sizes
    bool one_file_system = false;  // does not search mounts in the tree for files missing in the list
    bool recalls = false;          // also reads files with bytes only in an archive (HSM)
    std::function<void(const CompareCounts&)> watch{};
};

/// Compares the files of the tree at `root` with the list in the file `list`. `entry_log` gets the results: `differs`,
/// `missing_in_target` for files only in the list, `extra_in_target` for files only in the tree.
Result<> check_sums(const std::string& list, const std::string& root, const CheckOptions& options, EntryLog& entry_log,
                    CompareCounts& counts);

}  // namespace forebay::tree
