// Lists of checksums: what the regular files of a tree hold, for a check years later or of another copy. A line is the
// CRC32C of a file in 8 hexadecimal digits, its bytes, and its path below the root, in which \\ stands for a backslash,
// \n for a line end and \r for a carriage return; the first line is checksums_title. Lines have no order.

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

/// Without the line end.
std::string line_of(const FileSum& sum);
/// `corrupt` for a line that line_of() does not write.
Result<FileSum> file_sum_from(std::string_view line);

/// Of a file that holds still; `retry` where it changed meanwhile. Holes are read as the zeros that they are.
Result<FileSum> sum_of(sys::OpenFile& file, std::string path, std::vector<std::byte>& buffer);

struct CheckOptions {
    std::uint32_t threads = 1;
    EntryFilter filter{};
    bool reads_bytes = true;       // else sizes alone are compared
    bool one_file_system = false;  // what is mounted in the tree is not looked through for files that the list lacks
    bool recalls = false;          // bytes that an archive alone has (HSM) are read too
    std::function<void(const CompareCounts&)> watch{};
};

/// Compares the files of the tree at `root` with the list in the file `list`. What differs is in `entry_log`:
/// `differs`,
/// `missing_in_target` of what the list has and the tree has not, `extra_in_target` the other way round.
Result<> check_sums(const std::string& list, const std::string& root, const CheckOptions& options, EntryLog& entry_log,
                    CompareCounts& counts);

}  // namespace forebay::tree
