// The file and offset of a rank's part of a dump, and the target directory of each file. Within a file the variables
// follow one another, each with the parts of the file's ranks in order.
//
// Pure arithmetic, equal on every rank.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/matrix/content.hpp"

namespace forebay::bench {

/// A segment and its place.
struct Located {
    RowSpan segment;
    int file = 0;
    std::uint64_t offset = 0;  // bytes
    std::uint64_t bytes = 0;
    std::uint64_t file_row = 0;   // row of the variable in this file
    std::uint64_t file_rows = 0;  // rows of the variable in this file
};

class FilePlacement {
public:
    /// `nodes[rank]` is the rank's node. Files are named PREFIX-dump-file in one of `directories`.
    FilePlacement(const Content& content, const RowSetting& setting, const std::vector<int>& nodes,
                  std::vector<std::string> directories, std::string prefix);

    int files() const { return static_cast<int>(members_.size()); }
    int file_of(int rank) const { return file_of_[static_cast<std::size_t>(rank)]; }
    const std::vector<int>& members(int file) const { return members_[static_cast<std::size_t>(file)]; }
    std::uint64_t file_bytes(int file, int dump) const;
    std::string path(int file, int dump) const;
    std::vector<Located> located(const std::vector<RowSpan>& segments, int dump) const;
    /// Bytes of the fullest directory over their mean, for all dumps. 1 if they are filled evenly.
    double imbalance() const;

private:
    const Content& content_;
    std::vector<int> file_of_;
    std::vector<std::vector<int>> members_;
    std::vector<std::string> directories_;
    std::string prefix_;
    std::vector<std::vector<std::size_t>> directory_of_;  // [dump][file]
    std::vector<std::uint64_t> filled_;                   // bytes of each directory
};

}  // namespace forebay::bench
