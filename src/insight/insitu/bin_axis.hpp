// The cells along an axis of a histogram, and the cell of each value. Edges are doubles. A value lies in a cell if
// lower edge <= value < upper edge. The last cell of a given range includes its upper edge.
//
// A range is given, or found during the single pass over the data, while no node knows the values of another node. A
// found range puts cells on an absolute grid: cell j reaches from j * 2^k to (j+1) * 2^k. For logarithmic cells the
// base-2 logarithms lie on this grid. The level k is the lowest level at which all values fit into the axis's cells. It
// depends only on the least and the largest value. When the range grows by one level, cell j becomes cell j >> 1, so
// counts move but never split. Hence any order and any parts give the same counts. At the end `cells_a_bin` neighbours
// become one bin. With four times as many cells as bins, at least 2/3 of the bins lie in the range of the values.
// (Fewer do, if the values differ by less than doubles can show, or than 1/4096 of a factor of 2.)
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

    /// `cells_a_bin_max` limits the number of cells in a bin of a found range. `refused` for an invalid range.
    static Result<BinAxis> of(const Analysis& analysis, int cells_a_bin_max);

    /// Maps counts of old cells to cells of the grown axis. The places below, above and NaN do not move.
    struct Growth {
        std::int64_t old_first = 0, first = 0;
        int shift = 0;
        bool is_needed() const { return shift != 0 || old_first != first; }
        std::size_t moved(std::size_t cell) const;
    };

    /// Cells have places 0 to cells() - 1. The places below, above and NaN follow: places() in all.
    std::size_t cells() const { return cells_; }
    std::size_t below() const { return cells_; }
    std::size_t above() const { return cells_ + 1; }
    std::size_t nan() const { return cells_ + 2; }
    std::size_t places() const { return cells_ + 3; }
    /// Makes room for values. Move the counts made before by the returned Growth.
    Growth include(std::span<const double> values);
    Growth include(const BinAxis& other);
    /// Writes the place of each value. All values must be included already.
    void place(std::span<const double> values, std::uint32_t* places) const;

    /// Returns bins + 1 edges. The last bins may have no cells.
    std::vector<double> edges() const;
    std::size_t bin_of(std::size_t cell) const { return cell / cells_a_bin(); }
    std::size_t bins() const { return bins_; }
    /// True if values seen so far may lie in this cell.
    bool is_used(std::size_t cell) const { return cell < used_cells(); }

    void write(PartWriter& part) const;
    /// The axis must have been made with the same options; otherwise `corrupt`.
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
    double low_ = 0, high_ = 0;   // the given range; or the least and the largest value seen
    bool is_empty_ = true;        // a range to be found has no value yet
    int level_ = 0;               // k of a found range; k + 12 for logarithms
    std::int64_t first_ = 0;      // the number of cell 0
    std::vector<double> edges_;   // only for a given range
    std::vector<double> octave_;  // for a found logarithmic range: 2^(i/4096)
    /// For logarithmic bins: the last edge not above a number, indexed by its exponent and the next 8 bits.
    std::vector<std::uint32_t> starts_;
};

}  // namespace forebay::insitu
