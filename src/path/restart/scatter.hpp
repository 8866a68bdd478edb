// Copies one rank's part of a node file into the rank's memory, segment by segment.
//
// Several ranks may need the same segment, for instance where one rank's halo is its neighbour's interior. The rank
// that copies most of a segment also verifies it, because it reads those bytes anyway; the other ranks copy their part
// unverified. So the result is valid only after all ranks have agreed that none of them found an error.
//
// Life: claims() says how much this rank copies of each segment
//       -> the ranks that read the same bytes take the maximum of their claims
//       -> settle() tells this rank which segments it verifies
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

    /// Whether this rank takes anything of each segment (indexed as `segments`).
    const std::vector<char>& needed() const { return needed_; }

    /// The amount that this rank takes of each segment, for a maximum over the ranks: 0 is nothing, and no two claims
    /// are equal.
    std::vector<std::int64_t> claims(int rank) const;
    /// This rank verifies the segments for which its own claim is the largest.
    void settle(std::span<const std::int64_t> largest, int rank);

    /// Copies what this rank takes of the segments from `first` up to and without `end`, by the threads of `crew`, and
    /// verifies those that are this rank's to verify; where a whole segment goes to one place in one piece, both in one
    /// pass. `bytes` are those of the file `name` from `offset` on. `corrupt` as check_segment, or where bytes are
    /// missing; of several errors that of the first segment counts.
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
    std::vector<Touch> touches_;  // by segment: which takes span it
    std::vector<char> needed_;
    std::vector<char> verifies_;         // all that is needed, until settle()
    std::vector<std::int64_t> weights_;  // 0 where nothing is taken
};

}  // namespace forebay::restart
