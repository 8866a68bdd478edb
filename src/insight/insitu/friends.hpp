// Friends of friends: two particles of a periodic domain are friends if they are at most a linking length apart. A
// group holds all particles joined by a chain of friends. The groups depend only on positions, to the last bit, because
// a distance has the same bits from either end.
//
// Method: a cell's diagonal is a little below the linking length, so all particles in a cell are friends. For two cells
// of different groups, the search ends at the first near pair. If two crowded cells have no such pair, boxes around
// halves of them are compared before particles. So no input makes the code compare all pairs.
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
    double linking_length = 0;        // in the unit of the lengths
    std::uint64_t members_min = 1;    // smaller groups are dropped
};

class Friends {
public:
    /// `refused` if a dimension is more than a million linking lengths long, or for 2^32 - 1 or more particles.
    static Result<Friends> find(const FriendRule& rule, std::uint64_t particles, const ReadPlaces& read);

    /// The number of groups with enough members. The order of groups does not depend on the order of particles.
    std::size_t groups() const { return first_cell_.size() - 1; }
    std::uint64_t members(std::size_t group) const { return members_[group]; }
    /// Calls visit(CellParticle) for each member: cell by cell, in any order within a cell.
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
    std::array<std::uint32_t, 3> reach_{};  // how many cells away a friend can be, by dimension
    std::vector<std::uint32_t> parent_;     // of a cell: an earlier cell of its group, or itself
    std::vector<std::uint32_t> cell_of_group_, first_cell_{0};
    std::vector<std::uint64_t> members_;
};

}  // namespace forebay::insitu
