// Loads stretches of a dataset that is to be written, from the node files that hold its elements. Every segment is
// checked before any of its bytes is given out.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "insight/views/open_nodes.hpp"
#include "insight/views/tiling.hpp"

namespace forebay::views {

/// A dataset whose elements lie in node files, and its place in the file that is written.
struct DatasetTarget {
    std::string path;  // in the file, for texts
    std::uint64_t offset_bytes = 0;
    std::uint64_t bytes = 0;
    Type type;                    // of the file's elements
    std::vector<std::byte> fill;  // one element, for those that nobody wrote
    Tiling tiling;
};

/// One a thread.
class DatasetSource {
public:
    /// `nodes` must outlive it. It reads up to `read_bytes` at once, one segment at least.
    DatasetSource(OpenNodes& nodes, std::uint64_t read_bytes) : nodes_(nodes), read_bytes_(read_bytes) {}

    /// Fills `to` with the target's bytes from its byte `first` on. `corrupt` when a segment of them is not what the
    /// application gave.
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
