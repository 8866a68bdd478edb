#include "insight/insitu/friends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/try.hpp"
#include "insight/insitu/periodic.hpp"

namespace forebay::insitu {

namespace {

// A cell's diagonal is smaller than the linking length by this share: far above the rounding of indices and distances,
// and too little to need more cells.
constexpr double linking_margin = 1e-6;
// So many pairs of two cells are compared one by one; beyond it boxes are compared first.
constexpr std::size_t pairs_at_once = 512;

double square_between(const CellParticle& a, const CellParticle& b, const std::array<double, 3>& lengths) {
    double square = 0;
    for (std::size_t dim = 0; dim < 3; ++dim) {
        const auto along = std::abs(a.at[dim] - b.at[dim]);
        const auto nearest = std::min(along, lengths[dim] - along);
        square += nearest * nearest;
    }
    return square;
}

struct Bounds {
    std::array<double, 3> low, high;
};

Bounds bounds_of(std::span<const CellParticle> particles) {
    Bounds bounds{particles[0].at, particles[0].at};
    for (const auto& particle : particles.subspan(1))
        for (std::size_t dim = 0; dim < 3; ++dim) {
            bounds.low[dim] = std::min(bounds.low[dim], particle.at[dim]);
            bounds.high[dim] = std::max(bounds.high[dim], particle.at[dim]);
        }
    return bounds;
}

// The squared distances of all pairs of two boxes lie between these.
struct Squares {
    double least = 0;
    double most = 0;
};

Squares squares_between(const Bounds& a, const Bounds& b, const std::array<double, 3>& lengths) {
    Squares squares;
    for (std::size_t dim = 0; dim < 3; ++dim) {
        auto least = std::numeric_limits<double>::infinity();
        auto most = least;
        for (const auto shift : {-lengths[dim], 0.0, lengths[dim]}) {
            const auto up = b.high[dim] + shift - a.low[dim];
            const auto down = a.high[dim] - (b.low[dim] + shift);
            least = std::min(least, std::max({0.0, -up, -down}));
            most = std::min(most, std::max(up, down));
        }
        squares.least += least * least;
        squares.most += most * most;
    }
    return squares;
}

// Splits along the longest side of the box: the lower half comes first.
void halve(std::span<CellParticle> particles, const Bounds& bounds) {
    std::size_t longest = 0;
    for (std::size_t dim = 1; dim < 3; ++dim)
        if (bounds.high[dim] - bounds.low[dim] > bounds.high[longest] - bounds.low[longest]) longest = dim;
    const auto middle = particles.begin() + static_cast<std::ptrdiff_t>(particles.size() / 2);
    std::nth_element(particles.begin(), middle, particles.end(),
                     [&](const CellParticle& a, const CellParticle& b) { return a.at[longest] < b.at[longest]; });
}

}  // namespace

Result<Friends> Friends::find(const FriendRule& rule, std::uint64_t particles, const ReadPlaces& read) {
    if (particles >= std::numeric_limits<std::uint32_t>::max())
        return Error{ErrorKind::refused,
                     fmt::format("groups of {} particles are refused: the limit is 2^32 - 2", particles)};
    std::array<std::uint32_t, 3> counts{};
    std::array<std::uint32_t, 3> reach{};
    for (std::size_t dim = 0; dim < 3; ++dim) {
        // A cube's diagonal is its side times sqrt(3).
        const auto wanted = std::ceil(rule.lengths[dim] * std::sqrt(3.0) / rule.linking_length * (1 + linking_margin));
        if (!(wanted <= LinkedCells::cells_max))
            return Error{ErrorKind::refused,
                         fmt::format("groups are refused: the linking length {} is too small for a domain of {}",
                                     rule.linking_length, rule.lengths[dim]),
                         "", "give a linking_length above a millionth of the domain"};
        counts[dim] = std::max(1u, static_cast<std::uint32_t>(wanted));
        const auto cells_away = std::ceil(rule.linking_length / rule.lengths[dim] * counts[dim] * (1 + linking_margin));
        reach[dim] = static_cast<std::uint32_t>(std::min<double>(cells_away, counts[dim]));
    }
    Friends friends(rule, LinkedCells(rule.lengths, counts, particles, read));
    friends.reach_ = reach;
    friends.link();
    friends.gather();
    return friends;
}

void Friends::link() {
    parent_.resize(cells_.cells());
    for (std::uint32_t cell = 0; cell < parent_.size(); ++cell) parent_[cell] = cell;
    const auto link_both = [&](const auto& column, const auto& other) { link_columns(column, other); };
    const auto link_two = [&](const auto& cell, const auto& other) { link_cells(cell, other); };
    const auto rows = cells_.rows();
    for (std::size_t row = 0; row < rows.size(); ++row) {
        // Pairs within a column, within a row, and of two rows: each pair of cells once.
        const auto columns = cells_.columns(rows[row]);
        for (std::size_t column = 0; column < columns.size(); ++column) {
            const auto cells = cells_.cells(columns[column]);
            for (std::size_t cell = 0; cell < cells.size(); ++cell)
                for_each_ahead(cells, cell, reach_[2], cells_.count(2), link_two);
            for_each_ahead(columns, column, reach_[1], cells_.count(1), link_both);
        }
        for_each_ahead(rows, row, reach_[0], cells_.count(0), [&](const auto&, const auto& other) {
            for_each_near(columns, cells_.columns(other), reach_[1], cells_.count(1), link_both);
        });
    }
}

void Friends::link_columns(const LinkedCells::Entry& column, const LinkedCells::Entry& other) {
    for_each_near(cells_.cells(column), cells_.cells(other), reach_[2], cells_.count(2),
                  [&](const auto& cell, const auto& another) { link_cells(cell, another); });
}

void Friends::link_cells(const LinkedCells::Entry& cell, const LinkedCells::Entry& other) {
    const auto number = static_cast<std::uint32_t>(cells_.number_of(cell));
    const auto other_number = static_cast<std::uint32_t>(cells_.number_of(other));
    const auto root = root_of(number);
    const auto other_root = root_of(other_number);
    if (root == other_root || !touch(cells_.particles(number), cells_.particles(other_number))) return;
    // The root is always the lowest cell, so the order of links does not matter.
    parent_[std::max(root, other_root)] = std::min(root, other_root);
}

std::uint32_t Friends::root_of(std::uint32_t cell) {
    while (parent_[cell] != cell) {
        parent_[cell] = parent_[parent_[cell]];
        cell = parent_[cell];
    }
    return cell;
}

// True if a particle of each is within the linking length. Reorders both.
bool Friends::touch(std::span<CellParticle> some, std::span<CellParticle> others) const {
    const auto square = rule_.linking_length * rule_.linking_length;
    if (some.size() < others.size()) std::swap(some, others);
    if (some.size() * others.size() <= pairs_at_once) {
        for (const auto& a : some)
            for (const auto& b : others)
                if (square_between(a, b, rule_.lengths) <= square) return true;
        return false;
    }
    const auto bounds = bounds_of(some);
    const auto squares = squares_between(bounds, bounds_of(others), rule_.lengths);
    // Box distances are rounded, so near the linking length the particles decide.
    if (squares.least > square * (1 + linking_margin)) return false;
    if (squares.most < square * (1 - linking_margin)) return true;
    if (bounds.low == bounds.high) return touch(some.first(1), others);  // all are at one place
    halve(some, bounds);
    const auto half = some.size() / 2;
    return touch(some.first(half), others) || touch(some.subspan(half), others);
}

// Lists the cells of each group with enough members.
void Friends::gather() {
    const auto cells = static_cast<std::uint32_t>(cells_.cells());
    std::vector<std::uint64_t> members(cells);
    for (std::uint32_t cell = 0; cell < cells; ++cell) members[root_of(cell)] += cells_.particles(cell).size();
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> group_of(cells, none);  // indexed by root
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
        // Only roots have a count.
        if (members[cell] == 0 || members[cell] < rule_.members_min) continue;
        group_of[cell] = static_cast<std::uint32_t>(members_.size());
        members_.push_back(members[cell]);
    }
    first_cell_.assign(members_.size() + 1, 0);
    const auto group = [&](std::uint32_t cell) { return group_of[root_of(cell)]; };
    for (std::uint32_t cell = 0; cell < cells; ++cell)
        if (group(cell) != none) ++first_cell_[group(cell) + 1];
    for (std::size_t i = 1; i < first_cell_.size(); ++i) first_cell_[i] += first_cell_[i - 1];
    cell_of_group_.resize(first_cell_.back());
    auto next = first_cell_;
    for (std::uint32_t cell = 0; cell < cells; ++cell)
        if (group(cell) != none) cell_of_group_[next[group(cell)]++] = cell;
    // Frees memory that is no longer needed.
    parent_ = {};
}

}  // namespace forebay::insitu
