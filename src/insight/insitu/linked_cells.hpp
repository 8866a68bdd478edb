// Particles of a periodic domain, sorted into cells. Empty cells take no memory.
//
// Cells form columns, and columns form rows: a row has one index in x, a column one in x and y. Each level is a list
// sorted by index. To find neighbours, the code walks two lists at once, in memory it just used. There is no table over
// all cells: with a linking length of 0.2 mean distances it would have 650 cells a particle.
//
// The cell of a particle depends only on its position. The order of particles within a cell is free.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::insitu {

/// A particle and its place.
struct CellParticle {
    std::array<double, 3> at;  // in [0, length) of each dimension
    std::uint32_t particle;    // its number among all particles; unset until it is placed
};

/// Reads the positions of the particles from `first` on, as many as the spans hold, each in [0, length).
using ReadPlaces = std::function<void(std::uint64_t first, const std::array<std::span<double>, 3>& places)>;

class LinkedCells {
public:
    /// The most cells along a dimension: three indices fit a key of 63 bits.
    static constexpr std::uint32_t cells_max = 1u << 21;

    /// An entry of a list: a row, a column or a cell. Its children are entries [first, next entry's first) of the list
    /// below. Each list ends with one extra entry.
    struct Entry {
        std::uint32_t index = 0;  // along its dimension
        std::uint32_t first = 0;
    };
    using Entries = std::span<const Entry>;

    /// `counts` cells a dimension, at most cells_max; fewer than 2^32 - 1 particles. Reads each position twice.
    LinkedCells(const std::array<double, 3>& lengths, const std::array<std::uint32_t, 3>& counts,
                std::uint64_t particles, const ReadPlaces& read);

    const std::array<double, 3>& lengths() const { return lengths_; }
    /// Cells along a dimension, empty cells included.
    std::uint32_t count(int dim) const { return counts_[static_cast<std::size_t>(dim)]; }
    /// Cells with particles.
    std::size_t cells() const { return cells_.size() - 1; }

    Entries rows() const { return {rows_.data(), rows_.size() - 1}; }
    Entries columns(const Entry& row) const { return below(columns_, row); }
    Entries cells(const Entry& column) const { return below(cells_, column); }
    std::size_t number_of(const Entry& cell) const { return static_cast<std::size_t>(&cell - cells_.data()); }
    /// The particles of a cell, in any order.
    std::span<CellParticle> particles(std::size_t cell) {
        return {placed_.get() + cells_[cell].first, placed_.get() + cells_[cell + 1].first};
    }
    std::span<const CellParticle> particles(std::size_t cell) const {
        return {placed_.get() + cells_[cell].first, placed_.get() + cells_[cell + 1].first};
    }

private:
    struct Keyed {
        std::uint64_t key = 0;  // column and cell
        std::uint32_t at = 0;   // its place in the row
    };
    struct Scratch {
        std::vector<Keyed> keys, sorted;
        std::vector<CellParticle> row;
    };

    /// The children of an entry. They end at the next entry's first child.
    static Entries below(const std::vector<Entry>& list, const Entry& entry) {
        return {list.data() + entry.first, list.data() + (&entry)[1].first};
    }
    std::uint32_t index_of(double place, std::size_t dim) const;
    std::vector<std::uint32_t> place_in_rows(std::uint64_t particles, const ReadPlaces& read);
    void sort_row(std::span<CellParticle> row, std::uint32_t first, Scratch& scratch);

    std::array<double, 3> lengths_;
    std::array<std::uint32_t, 3> counts_;
    std::array<double, 3> cells_per_length_{};
    std::unique_ptr<CellParticle[]> placed_;
    std::vector<Entry> rows_, columns_, cells_;
};

/// Calls visit(a's entry, b's entry) for all pairs at most `reach` apart on a circle of `count`. On a short circle a
/// pair may come more than once. The lists may be the same list.
template <class Visit>
void for_each_near(LinkedCells::Entries a, LinkedCells::Entries b, std::uint32_t reach, std::uint32_t count,
                   const Visit& visit) {
    std::size_t start = 0;
    for (const auto& entry : a) {
        while (start < b.size() && b[start].index + reach < entry.index) ++start;
        for (auto i = start; i < b.size() && b[i].index <= entry.index + reach; ++i) visit(entry, b[i]);
    }
    for (const auto& entry : a) {
        if (entry.index >= reach) break;
        for (auto i = b.size(); i > 0 && b[i - 1].index + reach >= entry.index + count; --i) visit(entry, b[i - 1]);
    }
    for (auto from = a.size(); from > 0 && a[from - 1].index + reach >= count; --from)
        for (std::size_t i = 0; i < b.size() && b[i].index + count <= a[from - 1].index + reach; ++i)
            visit(a[from - 1], b[i]);
}

/// Pairs one entry of a list with the entries ahead of it on the circle. Call it for every entry to visit all pairs of
/// the list: each pair has one end with the other end ahead.
template <class Visit>
void for_each_ahead(LinkedCells::Entries list, std::size_t from, std::uint32_t reach, std::uint32_t count,
                    const Visit& visit) {
    const auto end = list[from].index + reach;
    for (auto i = from + 1; i < list.size() && list[i].index <= end; ++i) visit(list[from], list[i]);
    for (std::size_t i = 0; i < from && list[i].index + count <= end; ++i) visit(list[from], list[i]);
}

}  // namespace forebay::insitu
