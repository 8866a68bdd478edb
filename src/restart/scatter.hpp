// Moves what a rank takes out of one node file into its memory, as the file's segments come by in the order of their
// bytes.
//
// Life: claims() -> their maximum over the ranks that read the same bytes -> settle() -> segments are added in rising
// order, from the mapping of a staged copy or from a window. Of those who take of a segment the one that takes most
// verifies it, while it is in this core's cache for the copy; the others take what a halo needs of it. All is well when
// the ranks have agreed that no one met an error.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "format/segments.hpp"
#include "restart/plan.hpp"

namespace forebay::restart {

class Scatter {
public:
    Scatter(const format::NodeFile& file, const std::vector<format::Segment>& segments, std::vector<Take> takes);

    /// Whether this rank takes anything of each segment (indexed as `segments`).
    const std::vector<char>& needed() const { return needed_; }

    /// How much this rank takes of each segment, for a maximum over the ranks: 0 is nothing, and no two claims are
    /// equal.
    std::vector<std::int64_t> claims(int rank) const;
    /// This rank verifies the segments for which its own claim is the largest.
    void settle(std::span<const std::int64_t> largest, int rank);

    /// Copies what this rank takes of a segment, and verifies it if that is this rank's to do; where the whole segment
    /// goes to one place in one piece, both in one pass. Segments come in rising order. `corrupt` as check_segment.
    Result<> take(std::size_t segment, std::span<const std::byte> bytes, const std::string& name);

private:
    struct Active {
        Take take;
        std::uint64_t done_in_run = 0;  // bytes of the walk's current run that were copied
    };
    void enter(std::uint64_t end);
    void add(std::size_t segment, std::span<const std::byte> bytes);
    std::byte* whole(const format::Segment& segment);

    const format::NodeFile& file_;
    const std::vector<format::Segment>& segments_;
    std::vector<Take> takes_;  // by their first byte in the file
    std::size_t next_ = 0;     // of takes_, not entered yet
    std::vector<Active> active_;
    std::vector<char> needed_;
    std::vector<char> verifies_;         // all that is needed, until settle()
    std::vector<std::int64_t> weights_;  // 0 where nothing is taken
};

}  // namespace forebay::restart
