// The shared window of a node: the ranks read the needed pieces of a node file into a ring of buffers, each piece once,
// and take out of it what they want while the next pieces are on their way. Threads read; where none can be started,
// the ranks do, piece by piece.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/format/segments.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/plain_bytes.hpp"
#include "path/restart/scatter.hpp"

namespace forebay::restart {

class Window {
public:
    /// About `window_bytes` of memory (two buffers of two segments at least), in one file at `path` that is removed
    /// again once all have mapped it. Half of the buffers are read into at once. Collective over the node.
    static Result<Window> open(comm::Group& node, sys::Store& store, const std::string& path,
                               std::uint64_t window_bytes);

    /// Reads what the ranks of the node need of one file and hands it to `scatter`, whose `claims` these are and which
    /// verifies it. Collective over the node; errors are agreed, and after one the window is of no use any more.
    Result<> read(const catalog::PlainBytes& source, const std::string& name,
                  const std::vector<format::Segment>& segments, Scatter& scatter, std::vector<std::int64_t>& claims,
                  sys::Crew& crew);

private:
    struct Piece {                            // whole segments that are read in one go
        std::size_t first = 0, last = 0;      // segments, inclusive
        std::uint64_t offset = 0, bytes = 0;  // whole pages
    };
    struct Buffer;
    using FillUpTo = std::function<Result<>(std::uint64_t end)>;

    std::vector<Piece> cut(const std::vector<format::Segment>& segments, const std::vector<std::int64_t>& needed) const;
    std::uint64_t lanes() const { return buffers_ / 2; }  // pieces that are read at once
    std::uint64_t own_lanes() const;                      // by this rank
    std::uint64_t own_piece(std::uint64_t count) const;   // the count-th that this rank reads
    std::uint32_t turn_of(std::uint64_t piece) const;
    Buffer& buffer(std::uint64_t piece);
    std::span<std::byte> place(std::uint64_t piece);
    // Both are false when a rank has failed.
    bool reached(Buffer& buffer, std::uint32_t turn);
    Result<bool> fill(const catalog::PlainBytes& source, const Piece& piece, std::uint64_t number,
                      catalog::PlainBytes::Scratch& scratch);
    Result<> fill_on(const catalog::PlainBytes& source, const std::vector<Piece>& pieces, std::uint64_t end,
                     std::atomic<std::uint64_t>& next, catalog::PlainBytes::Scratch& scratch);
    Result<> empty(const std::string& name, const std::vector<Piece>& pieces, const Scatter& scatter, sys::Crew& crew,
                   const FillUpTo& fill_up_to);

    comm::Group* node_ = nullptr;
    sys::Mapping mapping_;
    std::uint64_t buffers_ = 0, buffer_bytes_ = 0;
    std::uint64_t pieces_done_ = 0;  // of the files before
};

}  // namespace forebay::restart
