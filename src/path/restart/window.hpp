// The shared window of a node. The ranks read the needed pieces of a node file into a ring of buffers, each piece once,
// and copy from it while the next pieces are being read. Threads read; if no thread can be started, the ranks read
// piece by piece.

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
    /// Takes about `window_bytes` of memory (at least two buffers of two segments), in one file at `path`. The file is
    /// removed after all ranks have mapped it. Half of the buffers are read into at once. Collective over the node.
    static Result<Window> open(comm::Group& node, sys::Store& store, const std::string& path,
                               std::uint64_t window_bytes);

    /// Reads the bytes of one file that the ranks of the node need and passes them to `scatter`, which verifies them.
    /// `claims` must be the claims of `scatter`. Collective over the node, also for errors. After an error the window
    /// cannot be used.
    Result<> read(const catalog::PlainBytes& source, const std::string& name,
                  const std::vector<format::Segment>& segments, Scatter& scatter, std::vector<std::int64_t>& claims,
                  sys::Crew& crew);

private:
    struct Piece {                            // whole segments, read at once
        std::size_t first = 0, last = 0;      // segments, inclusive
        std::uint64_t offset = 0, bytes = 0;  // whole pages
    };
    struct Buffer;
    using FillUpTo = std::function<Result<>(std::uint64_t end)>;

    std::vector<Piece> cut(const std::vector<format::Segment>& segments, const std::vector<std::int64_t>& needed) const;
    std::uint64_t lanes() const { return buffers_ / 2; }  // number of pieces that are read at once
    std::uint64_t own_lanes() const;                      // by this rank
    std::uint64_t own_piece(std::uint64_t count) const;   // this rank's piece number `count`
    std::uint32_t turn_of(std::uint64_t piece) const;
    Buffer& buffer(std::uint64_t piece);
    std::span<std::byte> place(std::uint64_t piece);
    // Both are false after an error of any rank.
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
    std::uint64_t pieces_done_ = 0;  // of earlier files
};

}  // namespace forebay::restart
