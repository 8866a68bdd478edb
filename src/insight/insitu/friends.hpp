// Friends of friends: particles of a periodic domain at most a linking length apart belong to one group, and so do
// those that a chain of such pairs joins. Which groups there are depends on positions alone, to the last bit: distances
// are computed the same way from either end.
//
// Method: cells have a diagonal a little below the linking length, so the particles of one cell are friends without a
// look at them; of two cells one pair that is near enough is sought, and only while they are in different groups. Where
// two crowded cells have no such pair, boxes around halves of them are compared before particles are, so no input
// makes this a look at all pairs.
//
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "insight/insitu/linked_cells.hpp"

namespace forebay::insitu {

struct FriendRule {
    std::array<double, 3> lengths{};  // of the domain
    double linking_length = 0;        // in their unit
    std::uint64_t members_min = 1;    // of a group that counts
};

class Friends {
public:
    /// `refused` where a dimension is more than a million linking lengths long, or there are 2^32 particles.
    static Result<Friends> find(const FriendRule& rule, std::uint64_t particles, const ReadPlaces& read);

    /// Those with members enough, in an order that the particles' order does not change.
    std::size_t groups() const { return first_cell_.size() - 1; }
    std::uint64_t members(std::size_t group) const { return members_[group]; }
    /// Calls visit(particle where it was put) for each member: cell by cell, within a cell in any order.
    template <class Visit>
    void for_each_member(std::size_t group, const Visit& visit) const {
        for (auto i = first_cell_[group]; i < first_cell_[group + 1]; ++i)
            for (const auto& placed : cells_.particles(cell_of_group_[i])) visit(placed);
    }

private:
    Friends(const FriendRule& rule, LinkedCells cells) : rule_(rule), cells_(std::move(cells)) {}
    void link();
    void link_columns(const LinkedCells::Entry& column, const LinkedCells::Entry& other);
    void link_cells(const LinkedCells::Entry& cell, const LinkedCells::Entry& other);
    bool touch(std::span<CellParticle> some, std::span<CellParticle> others) const;
    std::uint32_t root_of(std::uint32_t cell);
    void gather();

    FriendRule rule_;
    LinkedCells cells_;
    std::array<std::uint32_t, 3> reach_{};  // of a cell, in cells of each dimension
    std::vector<std::uint32_t> parent_;     // of a cell: one of its group, before it
    std::vector<std::uint32_t> cell_of_group_, first_cell_{0};
    std::vector<std::uint64_t> members_;
};

}  // namespace forebay::insitu
