// The cells along an axis of a histogram, and which of them a value falls into. Edges are doubles, and a value lies in
// the cell of which the lower edge is at most the value and the upper edge is above it; of a given range the last cell
// has its upper edge too.
//
// A range is given, or found while values are seen, in one pass over the data and by nodes of which none knows what the
// others see. Then cells lie on an absolute grid: cell j reaches from j * 2^k to (j+1) * 2^k, of logarithmic ones the
// logarithms of base 2 do. The level k is the least at which all that was seen fits into the axis's cells. It is a
// function of the least and the largest value alone, and grows as the range does; growing, cell j becomes cell j >> 1,
// which moves counts and splits none. So any order and any parts end in the same counts. At the end `cells_a_bin`
// neighbours become one bin: with four times as many cells as bins, at least 2/3 of the bins lie where values are (of
// values that no double tells further apart, or by more than 1/4096 of a factor of 2, there are fewer).
//
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forebay/options.hpp"
#include "insight/insitu/part_bytes.hpp"

namespace forebay::insitu {

class BinAxis {
public:
    static constexpr int bins_max = 1 << 20;

    /// `cells_a_bin_max`: how much finer the cells of a range that is found are, at most. `refused` for a range that is
    /// no range.
    static Result<BinAxis> of(const Analysis& analysis, int cells_a_bin_max);

    /// How counts of the old cells go to those of a grown axis; of places below, above and NaN nothing moves.
    struct Growth {
        std::int64_t old_first = 0, first = 0;
        int shift = 0;
        bool is_needed() const { return shift != 0 || old_first != first; }
        std::size_t moved(std::size_t cell) const;
    };

    /// Cells 0 to cells() - 1; then those below, above, and NaN: places() in all.
    std::size_t cells() const { return cells_; }
    std::size_t below() const { return cells_; }
    std::size_t above() const { return cells_ + 1; }
    std::size_t nan() const { return cells_ + 2; }
    std::size_t places() const { return cells_ + 3; }
    /// Makes room for values; counts that were made before move by what it returns.
    Growth include(std::span<const double> values);
    Growth include(const BinAxis& other);
    /// The place of each value, of which all have been included.
    void place(std::span<const double> values, std::uint32_t* places) const;

    /// bins + 1 of them; and the first cell and the number of cells of each bin. The last bins may have no cells.
    std::vector<double> edges() const;
    std::size_t bin_of(std::size_t cell) const { return cell / cells_a_bin(); }
    std::size_t bins() const { return bins_; }
    /// Whether a value that was seen may lie in it.
    bool is_used(std::size_t cell) const { return cell < used_cells(); }

    void write(PartWriter& part) const;
    /// Of an axis that was made of the same options; else `corrupt`.
    Result<> read(PartReader& part);

private:
    Growth include(double least, double largest);
    std::size_t used_cells() const;
    std::size_t cells_a_bin() const;
    std::int64_t cell_at(double value, int level) const;
    int level_of(double least, double largest) const;
    double edge(std::int64_t cell) const;
    void make_edges();
    void make_starts(const std::vector<double>& edges);
    std::int64_t found_in(const std::vector<double>& edges, double value) const;

    bool given_ = false, log_ = false;
    std::size_t bins_ = 0, cells_ = 0;
    double low_ = 0, high_ = 0;   // given; or the least and the largest that was seen
    bool is_empty_ = true;        // of a range to be found
    int level_ = 0;               // of a range that is found: k; of logarithms k + 12
    std::int64_t first_ = 0;      // the number of cell 0
    std::vector<double> edges_;   // of a given range
    std::vector<double> octave_;  // of a logarithmic range to be found: 2^(i/4096)
    /// Of logarithmic bins: the last edge that is not above a number, for the numbers of 8 bits after the first.
    std::vector<std::uint32_t> starts_;
};

}  // namespace forebay::insitu
