#include "bench/matrix/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace forebay::bench {

FilePlacement::FilePlacement(const Content& content, const RowSetting& setting, const std::vector<int>& nodes,
                             std::vector<std::string> directories, std::string prefix)
    : content_(content),
      directories_(std::move(directories)),
      prefix_(std::move(prefix)),
      filled_(directories_.size(), 0) {
    std::map<int, int> numbers;  // files are numbered in the order of their first ranks
    for (int rank = 0; rank < content.ranks(); ++rank) {
        int wish = 0;
        if (setting.layout == FileLayout::rank) wish = rank;
        if (setting.layout == FileLayout::node) wish = nodes[static_cast<std::size_t>(rank)];
        if (setting.layout == FileLayout::groups)
            wish = static_cast<int>(static_cast<std::int64_t>(rank) * std::min(setting.groups, content.ranks()) /
                                    content.ranks());
        const auto [number, is_new] = numbers.try_emplace(wish, static_cast<int>(numbers.size()));
        if (is_new) members_.emplace_back();
        file_of_.push_back(number->second);
        members_[static_cast<std::size_t>(number->second)].push_back(rank);
    }
    // Each file goes to the directory with the fewest bytes so far: equal files go round.
    for (int dump = 0; dump < setting.dumps; ++dump) {
        directory_of_.emplace_back();
        for (int file = 0; file < files(); ++file) {
            const auto least = static_cast<std::size_t>(std::ranges::min_element(filled_) - filled_.begin());
            filled_[least] += file_bytes(file, dump);
            directory_of_.back().push_back(least);
        }
    }
}

std::uint64_t FilePlacement::file_bytes(int file, int dump) const {
    std::uint64_t bytes = 0;
    for (const int rank : members(file)) bytes += content_.bytes_of_rank(rank, dump);
    return bytes;
}

std::string FilePlacement::path(int file, int dump) const {
    const auto directory = directory_of_[static_cast<std::size_t>(dump)][static_cast<std::size_t>(file)];
    return fmt::format("{}/{}-{}-{}", directories_[directory], prefix_, dump, file);
}

std::vector<Located> FilePlacement::located(const std::vector<RowSpan>& segments, int dump) const {
    std::vector<Located> all;
    std::map<int, std::vector<std::uint64_t>> bases;  // for each file, the begin of each variable
    for (const auto& segment : segments) {
        const auto v = segment.variable;
        Located place{.segment = segment, .file = file_of(segment.owner)};
        auto& base = bases[place.file];
        if (base.empty()) {
            std::uint64_t at = 0;
            for (std::size_t other = 0; other < content_.variables().size(); ++other) {
                base.push_back(at);
                for (const int rank : members(place.file)) at += content_.bytes(other, rank, dump);
            }
        }
        for (const int rank : members(place.file)) {
            if (rank == segment.owner) place.file_row = place.file_rows + segment.row;
            place.file_rows += content_.rows(v, rank, dump);
        }
        const auto row_bytes = content_.variables()[v].row_bytes;
        place.offset = base[v] + place.file_row * row_bytes;
        place.bytes = segment.rows * row_bytes;
        all.push_back(place);
    }
    return all;
}

double FilePlacement::imbalance() const {
    std::uint64_t all = 0;
    for (const auto bytes : filled_) all += bytes;
    if (all == 0) return 1;
    return static_cast<double>(*std::ranges::max_element(filled_)) * static_cast<double>(filled_.size()) /
           static_cast<double>(all);
}

}  // namespace forebay::bench
