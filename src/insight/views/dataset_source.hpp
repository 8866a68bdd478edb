// Loads stretches of an export's dataset from the node files with its elements. Every segment is verified before any of
// its bytes is used.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "insight/views/open_nodes.hpp"
#include "insight/views/tiling.hpp"

namespace forebay::views {

/// A dataset with its elements in node files, and its place in the output file.
struct DatasetTarget {
    std::string path;  // in the file, for error texts
    std::uint64_t offset_bytes = 0;
    std::uint64_t bytes = 0;
    Type type;                    // in the file
    std::vector<std::byte> fill;  // one element, for unwritten elements
    Tiling tiling;
};

/// Use one for each thread.
class DatasetSource {
public:
    /// `nodes` must outlive it. It reads up to `read_bytes` at once, but at least one segment.
    DatasetSource(OpenNodes& nodes, std::uint64_t read_bytes) : nodes_(nodes), read_bytes_(read_bytes) {}

    /// Fills `to` with the target's bytes from `first` on. `corrupt` if a segment is not what the application saved.
    Result<> load(const DatasetTarget& target, std::uint64_t first, std::span<std::byte> to);

    /// All bytes read so far.
    std::uint64_t bytes_read() const { return bytes_read_; }

private:
    struct Into;
    Result<> load_tile(const DatasetTarget& target, const Stored& tile, const Into& into);

    OpenNodes& nodes_;
    const std::uint64_t read_bytes_;
    std::uint64_t bytes_read_ = 0;
    PageBuffer buffer_;
    catalog::BlockReader::Scratch scratch_;
    std::vector<std::byte> converted_;
};

}  // namespace forebay::views
