#include "insight/insitu/bin_axis.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "core/base/try.hpp"
#include "insight/insitu/vector_targets.hpp"

namespace forebay::insitu {

namespace {

constexpr int octave_cells = 4096;   // of the finest logarithmic level: 2^12
constexpr int level_lowest = -1022;  // below it 2^-level exceeds doubles

constexpr int key_shift = 44;  // keeps a double's exponent and the next 8 bits
std::uint64_t key_of(double value) { return std::bit_cast<std::uint64_t>(value) >> key_shift; }

/// floor(value * scale), if it is below 2^53. A product rounded to 0 keeps its side of 0.
FB_KERNEL std::int64_t floored(double value, double scale) {
    const double product = value * scale;
    const auto whole = static_cast<std::int64_t>(product);
    const bool is_above = static_cast<double>(whole) > product;
    const bool is_lost = product == 0 && value < 0;
    return whole - (is_above || is_lost ? 1 : 0);
}

struct PlaceLinear {
    /// Cells have width 1 / `scale`, and `first` is cell 0. It computes the same as floored(), but only with doubles:
    /// before AVX-512 no processor has vector conversions to integers of 64 bits.
    FB_KERNEL static void run(const double* values, std::size_t count, double scale, double first, std::uint32_t cells,
                              std::uint32_t* places) {
        constexpr double most = std::numeric_limits<double>::max(), rounder = 0x1.8p52;
        const double below = cells, above = cells + 1, nan = cells + 2;
        for (std::size_t i = 0; i < count; ++i) {
            const double value = values[i], product = value * scale;
            const double cell = (product - first + rounder) - rounder;  // the nearest whole number
            const double rounded_up = cell + first > product ? 1 : 0;
            const double lost = (product == 0 ? 1.0 : 0.0) * (value < 0 ? 1.0 : 0.0);
            double place = cell - rounded_up - lost;
            place = value > most ? above : place;
            place = value < -most ? below : place;
            place = value == value ? place : nan;
            places[i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(place));
        }
    }
};

struct PlaceGiven {
    /// The rounded quotient may be one cell off, so the edges decide.
    FB_KERNEL static void run(const double* values, std::size_t count, const double* edges, std::uint32_t cells,
                              std::uint32_t* places) {
        const double low = edges[0], high = edges[cells], width = (high - low) / cells;
        const auto last = static_cast<std::int32_t>(cells) - 1;
        for (std::size_t i = 0; i < count; ++i) {
            const double value = values[i];
            const bool is_in = value >= low && value <= high;
            const double inner = is_in ? value : low;
            auto cell = static_cast<std::int32_t>((inner - low) / width);
            cell = cell < last ? cell : last;
            cell -= inner < edges[cell] ? 1 : 0;
            cell += cell < last && inner >= edges[cell + 1] ? 1 : 0;
            const auto other = value > high ? cells + 1 : value < low ? cells : cells + 2;
            places[i] = is_in ? static_cast<std::uint32_t>(cell) : other;
        }
    }
};

struct Reached {
    double least = std::numeric_limits<double>::infinity(), largest = -std::numeric_limits<double>::infinity();
};

/// The range of the finite values above `above`.
struct FindRange {
    FB_KERNEL static Reached run(const double* values, std::size_t count, double above) {
        constexpr std::size_t width = 16;
        constexpr double most = std::numeric_limits<double>::max();
        Reached range;
        double least[width], largest[width];
        for (std::size_t j = 0; j < width; ++j) {
            least[j] = range.least;
            largest[j] = range.largest;
        }
        const auto take = [&](double value, std::size_t j) __attribute__((always_inline)) {
            const bool is_in = value > above && value <= most && value >= -most;
            const double low = is_in ? value : std::numeric_limits<double>::infinity();
            const double high = is_in ? value : -std::numeric_limits<double>::infinity();
            least[j] = low < least[j] ? low : least[j];
            largest[j] = high > largest[j] ? high : largest[j];
        };
        const auto whole = count - count % width;
        for (std::size_t i = 0; i < whole; i += width)
            for (std::size_t j = 0; j < width; ++j) take(values[i + j], j);
        for (std::size_t i = whole; i < count; ++i) take(values[i], 0);
        for (std::size_t j = 0; j < width; ++j) {
            range.least = least[j] < range.least ? least[j] : range.least;
            range.largest = largest[j] > range.largest ? largest[j] : range.largest;
        }
        return range;
    }
};

}  // namespace

Result<BinAxis> BinAxis::of(const Analysis& analysis, int cells_a_bin_max) {
    BinAxis axis;
    const auto refused = [&](const std::string& what) {
        return Error{ErrorKind::refused, "analysis '" + analysis.name + "': " + what};
    };
    if (analysis.bins < 1 || analysis.bins > bins_max) return refused("bins must be 1 to " + std::to_string(bins_max));
    axis.log_ = analysis.log;
    axis.bins_ = static_cast<std::size_t>(analysis.bins);
    axis.given_ = !std::isnan(analysis.low) || !std::isnan(analysis.high);
    axis.cells_ =
        axis.given_ ? axis.bins_ : std::max<std::size_t>(2, axis.bins_ * static_cast<std::size_t>(cells_a_bin_max));
    axis.low_ = analysis.low;
    axis.high_ = analysis.high;
    if (axis.given_) {
        if (!std::isfinite(axis.low_) || !std::isfinite(axis.high_))
            return refused("give both low and high, or neither");
        const double width = (axis.high_ - axis.low_) / analysis.bins;
        if (!(width > 0) || !std::isfinite(width)) return refused("low must be below high");
        if (axis.log_ && axis.low_ <= 0) return refused("low must be above 0 for logarithmic bins");
        axis.make_edges();
        if (std::ranges::adjacent_find(axis.edges_, std::greater_equal<>()) != axis.edges_.end())
            return refused("low and high are too close for this number of bins");
    } else if (axis.log_) {
        // Not std::pow(): unlike powers, square roots are the same on all machines.
        axis.octave_.assign(octave_cells + 1, 1);
        axis.octave_.back() = 2;
        // Geometric means halve the steps between known edges.
        for (std::size_t step = octave_cells; step > 1; step /= 2)
            for (std::size_t i = 0; i < octave_cells; i += step)
                axis.octave_[i + step / 2] = std::sqrt(axis.octave_[i]) * std::sqrt(axis.octave_[i + step]);
        axis.make_starts(axis.octave_);
    }
    return axis;
}

void BinAxis::make_edges() {
    const auto count = static_cast<double>(bins_);
    edges_.resize(bins_ + 1);
    for (std::size_t i = 0; i <= bins_; ++i) {
        const auto at = static_cast<double>(i);
        // Rounding may move the outer edges, so they are set below to the given values.
        edges_[i] = log_ ? std::exp2(std::log2(low_) + at * ((std::log2(high_) - std::log2(low_)) / count))
                         : low_ + at * ((high_ - low_) / count);
    }
    edges_.front() = low_;
    edges_.back() = high_;
    if (log_) return make_starts(edges_);
}

void BinAxis::make_starts(const std::vector<double>& edges) {
    const auto first = key_of(edges.front()), last = key_of(edges.back()) + 1;
    for (auto key = first; key <= last; ++key) {
        const auto least = std::max(std::bit_cast<double>(key << key_shift), edges.front());
        const auto above = std::upper_bound(edges.begin(), edges.end(), least);
        starts_.push_back(static_cast<std::uint32_t>(above - edges.begin() - 1));
    }
}

std::int64_t BinAxis::found_in(const std::vector<double>& edges, double value) const {
    const auto key = static_cast<std::size_t>(key_of(value) - key_of(edges.front()));
    auto at = starts_[key];
    const auto end = starts_[key + 1];
    // Up to 8 edges a linear search is enough.
    if (end - at > 8) return std::upper_bound(edges.begin() + at, edges.begin() + end + 1, value) - edges.begin() - 1;
    while (at < end && value >= edges[at + 1]) ++at;
    return at;
}

std::int64_t BinAxis::cell_at(double value, int level) const {
    if (!log_) return floored(value, std::ldexp(1.0, -level));
    int exponent = 0;
    const double fraction = 2 * std::frexp(value, &exponent);  // 1 to 2
    return (static_cast<std::int64_t>(exponent - 1) * octave_cells + found_in(octave_, fraction)) >> level;
}

int BinAxis::level_of(double least, double largest) const {
    int level = 0;
    if (!log_) {
        const double magnitude = std::max(std::abs(least), std::abs(largest));
        // At this level the largest value is below 2^53 cells, so its cell number is exact.
        level = magnitude == 0 ? level_lowest : std::max(std::ilogb(magnitude) - 52, level_lowest);
    }
    const auto cells = static_cast<std::int64_t>(cells_);
    while (cell_at(largest, level) - cell_at(least, level) >= cells) ++level;
    return level;
}

std::size_t BinAxis::Growth::moved(std::size_t cell) const {
    return static_cast<std::size_t>(((old_first + static_cast<std::int64_t>(cell)) >> shift) - first);
}

BinAxis::Growth BinAxis::include(std::span<const double> values) {
    if (given_ || values.empty()) return {};
    const auto range =
        vectorised<FindRange>(values.data(), values.size(), log_ ? 0.0 : -std::numeric_limits<double>::infinity());
    if (range.least > range.largest) return {};
    return include(range.least, range.largest);
}

BinAxis::Growth BinAxis::include(const BinAxis& other) {
    if (given_ || other.is_empty_) return {};
    return include(other.low_, other.high_);
}

BinAxis::Growth BinAxis::include(double least, double largest) {
    least += 0.0;  // -0 becomes 0: otherwise the order of values would show in the bytes
    largest += 0.0;
    if (is_empty_) {
        low_ = least;
        high_ = largest;
        is_empty_ = false;
        level_ = level_of(low_, high_);
        first_ = cell_at(low_, level_);
        return {};
    }
    // Usually the range stays.
    if (least >= low_ && largest <= high_) return {};
    low_ = std::min(low_, least);
    high_ = std::max(high_, largest);
    const int old_level = level_;
    const auto old_first = first_;
    level_ = level_of(low_, high_);
    first_ = cell_at(low_, level_);
    // Both grids are absolute: old cell old_first + i lies in new cell (old_first + i) >> shift.
    return {old_first, first_, std::min(level_ - old_level, 62)};
}

void BinAxis::place(std::span<const double> values, std::uint32_t* places) const {
    const auto cells = static_cast<std::uint32_t>(cells_);
    if (given_ && !log_) {
        vectorised<PlaceGiven>(values.data(), values.size(), edges_.data(), cells, places);
    } else if (!log_) {
        vectorised<PlaceLinear>(values.data(), values.size(), std::ldexp(1.0, -level_), static_cast<double>(first_),
                                cells, places);
    } else {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double value = values[i];
            std::int64_t cell = cells;
            if (std::isnan(value)) cell = cells + 2;
            else if (given_ ? value > high_ : std::isinf(value) && value > 0) cell = cells + 1;
            else if (given_ && value >= low_) cell = std::min(found_in(edges_, value), std::int64_t{cells} - 1);
            else if (!given_ && value > 0) cell = cell_at(value, level_) - first_;
            places[i] = static_cast<std::uint32_t>(cell);
        }
    }
}

std::size_t BinAxis::used_cells() const {
    if (given_) return cells_;
    return is_empty_ ? 0 : static_cast<std::size_t>(cell_at(high_, level_) - first_) + 1;
}

std::size_t BinAxis::cells_a_bin() const { return std::max<std::size_t>(1, (used_cells() + bins_ - 1) / bins_); }

double BinAxis::edge(std::int64_t cell) const {
    if (!log_) return std::ldexp(static_cast<double>(cell), level_);
    const auto fine = cell * (std::int64_t{1} << level_);
    const auto octave = fine >> 12;
    return std::ldexp(octave_[static_cast<std::size_t>(fine & (octave_cells - 1))], static_cast<int>(octave));
}

std::vector<double> BinAxis::edges() const {
    if (given_) return edges_;
    std::vector<double> edges(bins_ + 1, std::numeric_limits<double>::quiet_NaN());
    if (is_empty_) return edges;
    for (std::size_t i = 0; i <= bins_; ++i) edges[i] = edge(first_ + static_cast<std::int64_t>(i * cells_a_bin()));
    return edges;
}

void BinAxis::write(PartWriter& part) const {
    part.number(static_cast<std::uint8_t>((given_ ? 1 : 0) | (log_ ? 2 : 0) | (is_empty_ ? 4 : 0)));
    part.number(static_cast<std::uint64_t>(bins_));
    part.number(static_cast<std::uint64_t>(cells_));
    part.number(is_empty_ && !given_ ? 0 : low_);
    part.number(is_empty_ && !given_ ? 0 : high_);
}

Result<> BinAxis::read(PartReader& part) {
    const auto flags = part.number<std::uint8_t>();
    const auto bins = part.number<std::uint64_t>();
    const auto cells = part.number<std::uint64_t>();
    const auto low = part.number<double>(), high = part.number<double>();
    const bool is_empty = (flags & 4) != 0;
    const bool is_same = flags == ((given_ ? 1 : 0) | (log_ ? 2 : 0) | (flags & 4)) && bins == bins_ && cells == cells_;
    if (!is_same || !std::isfinite(low) || !std::isfinite(high) || low > high ||
        (given_ && (low != low_ || high != high_)) || (log_ && !is_empty && low <= 0))
        return Error{ErrorKind::corrupt, "a range of bins is damaged, or has other options"};
    if (given_ || is_empty) return {};
    // include() also computes level and first cell from the range.
    is_empty_ = true;
    static_cast<void>(include(low, high));
    return {};
}

}  // namespace forebay::insitu
