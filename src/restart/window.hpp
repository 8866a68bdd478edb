// The shared window of a node: the ranks read the needed pieces of a node file into it, each piece once, and take out
// of it what they want. Two halves: while the ranks take from one, the next pieces are read into the other.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/group.hpp"
#include "format/segments.hpp"
#include "restart/scatter.hpp"
#include "sys/mapping.hpp"
#include "sys/store.hpp"

namespace forebay::restart {

class Window {
public:
    /// `bytes_per_rank` of memory a rank, in one file at `path` that is removed again once all have mapped it.
    /// Collective over the node.
    static Result<Window> open(comm::Group& node, sys::Store& store, const std::string& path,
                               std::uint64_t bytes_per_rank);

    /// Reads what the ranks of the node need of one file and hands it to `scatter`. Collective over the node; errors
    /// are agreed.
    Result<> read(sys::File& source, const std::string& name, const format::NodeFile& file,
                  const std::vector<format::Segment>& segments, Scatter& scatter);

private:
    struct Piece {                        // whole segments that are read in one go
        std::size_t first = 0, last = 0;  // segments, inclusive
        std::uint64_t offset = 0, bytes = 0;
    };
    std::vector<Piece> cut(const std::vector<format::Segment>& segments, const std::vector<std::int64_t>& needed) const;
    std::span<std::byte> place(std::size_t piece);

    comm::Group* node_ = nullptr;
    sys::Mapping mapping_;
    std::uint64_t half_bytes_ = 0;  // of one rank's part of one half
};

}  // namespace forebay::restart
