// Copies one rank's part of a node file into the rank's memory, segment by segment.
//
// Several ranks may need the same segment, for example if one rank's halo is its neighbour's interior. The rank that
// copies most of a segment also verifies it, because it reads those bytes anyway. The other ranks copy their part
// unverified. So the result is valid only after all ranks have agreed that there is no error.
//
// Life: claims() gives the amount that this rank copies of each segment
//       -> the ranks that read the same bytes take the maximum of their claims
//       -> settle() selects the segments that this rank verifies
//       -> take() for all segments, from the mapping of a staged copy or piece by piece from a window

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/format/segments.hpp"
#include "core/sys/crew.hpp"
#include "path/restart/plan.hpp"

namespace forebay::restart {

class Scatter {
public:
    Scatter(const format::NodeFile& file, const std::vector<format::Segment>& segments, std::vector<Take> takes);

    /// True for each segment (indexed as `segments`) from which this rank takes bytes.
    const std::vector<char>& needed() const { return needed_; }

    /// The amount that this rank takes of each segment, for a maximum over the ranks: 0 is nothing, and no two claims
    /// are equal.
    std::vector<std::int64_t> claims(int rank) const;
    /// This rank verifies the segments for which its own claim is the largest.
    void settle(std::span<const std::int64_t> largest, int rank);

    /// Copies this rank's bytes of the segments from `first` up to but not including `end`, with the threads of `crew`.
    /// It verifies this rank's segments. If a whole segment goes to one place in one piece, it does both in one pass.
    /// `bytes` are the bytes of the file `name` from `offset` on. `corrupt` as check_segment, or if bytes are missing.
    /// The error of the first segment is returned.
    Result<> take(std::size_t first, std::size_t end, std::span<const std::byte> bytes, std::uint64_t offset,
                  const std::string& name, sys::Crew& crew) const;

private:
    Result<> take_one(std::size_t segment, std::span<const std::byte> bytes, const std::string& name) const;
    struct Touch {
        std::size_t segment = 0, take = 0;
    };
    std::span<const Touch> touches_of(std::size_t segment) const;
    void copy(const Take& take, const format::Segment& segment, std::span<const std::byte> bytes) const;
    std::byte* whole(std::size_t segment) const;

    const format::NodeFile& file_;
    const std::vector<format::Segment>& segments_;
    std::vector<Take> takes_;
    std::vector<Touch> touches_;  // by segment: the takes that touch it
    std::vector<char> needed_;
    std::vector<char> verifies_;         // all needed segments, until settle()
    std::vector<std::int64_t> weights_;  // 0 if nothing is taken
};

}  // namespace forebay::restart
