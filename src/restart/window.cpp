#include "restart/window.hpp"

#include <algorithm>
#include <future>

#include "base/bytes.hpp"
#include "base/limits.hpp"

namespace forebay::restart {

Result<Window> Window::open(comm::Group& node, sys::Store& store, const std::string& path,
                            std::uint64_t bytes_per_rank) {
    Window window;
    window.node_ = &node;
    // A half holds one whole segment and the alignment around it at least.
    window.half_bytes_ = std::max(round_up(bytes_per_rank / 2, limits::page_bytes), 2 * limits::segment_bytes);
    const auto total = 2 * window.half_bytes_ * static_cast<std::uint64_t>(node.size());
    const auto map = [&](Result<sys::Mapping> mapping) -> Result<> {
        if (!mapping) return mapping.error();
        window.mapping_ = std::move(*mapping);
        return {};
    };
    if (node.rank() == 0) FB_TRY(comm::agree(node, map(sys::Mapping::create(path, total))));
    else FB_TRY(comm::agree(node, {}));
    FB_TRY(comm::agree(node, node.rank() == 0 ? Result<>() : map(sys::Mapping::open(path, true))));
    FB_TRY(comm::agree(node, node.rank() == 0 ? store.remove(path) : Result<>()));
    return window;
}

std::vector<Window::Piece> Window::cut(const std::vector<format::Segment>& segments,
                                       const std::vector<std::int64_t>& needed) const {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (needed[i] == 0) continue;
        const auto& segment = segments[i];
        const auto end = segment.offset + segment.bytes;
        // Gaps below 64 KiB are read along: a disk takes longer to start another read.
        if (!pieces.empty() &&
            segment.offset <= pieces.back().offset + pieces.back().bytes + limits::packed_variable_bytes &&
            end - pieces.back().offset <= half_bytes_) {
            pieces.back().last = i;
            pieces.back().bytes = end - pieces.back().offset;
        } else {
            pieces.push_back({i, i, segment.offset, segment.bytes});
        }
    }
    return pieces;
}

// Piece p is read by rank p modulo ranks in round p divided by ranks; odd rounds use the second half.
std::span<std::byte> Window::place(std::size_t piece) {
    const auto ranks = static_cast<std::size_t>(node_->size());
    const auto half = piece / ranks % 2;
    return mapping_.bytes().subspan((half * ranks + piece % ranks) * half_bytes_, half_bytes_);
}

Result<> Window::read(sys::File& source, const std::string& name, const format::NodeFile& file,
                      const std::vector<format::Segment>& segments, Scatter& scatter) {
    std::vector<std::int64_t> needed(scatter.needed().begin(), scatter.needed().end());
    node_->max(needed);
    const auto pieces = cut(segments, needed);
    const auto ranks = static_cast<std::size_t>(node_->size());
    const auto rounds = (pieces.size() + ranks - 1) / ranks;
    const auto fetch = [&](std::size_t round) -> Result<> {
        const auto index = round * ranks + static_cast<std::size_t>(node_->rank());
        if (index >= pieces.size()) return {};
        const auto& piece = pieces[index];
        const auto bytes = place(index).first(piece.bytes);
        FB_TRY(source.read(piece.offset, bytes));
        for (auto i = piece.first; i <= piece.last; ++i)
            if (needed[i] != 0)
                FB_TRY(format::check_segment(
                    file, segments[i], bytes.subspan(segments[i].offset - piece.offset, segments[i].bytes), name));
        return {};
    };
    std::future<Result<>> ahead;
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto fetched = round == 0 ? fetch(0) : ahead.get();
        // After this all have left the other half, and this one is filled.
        FB_TRY(comm::agree(*node_, fetched));
        if (round + 1 < rounds) ahead = std::async(std::launch::async, fetch, round + 1);
        for (auto index = round * ranks; index < std::min(pieces.size(), (round + 1) * ranks); ++index)
            for (auto i = pieces[index].first; i <= pieces[index].last; ++i)
                if (scatter.needed()[i] != 0)
                    scatter.add(i, place(index).subspan(segments[i].offset - pieces[index].offset, segments[i].bytes));
    }
    node_->barrier();  // the window is free for the next file
    return {};
}

}  // namespace forebay::restart
