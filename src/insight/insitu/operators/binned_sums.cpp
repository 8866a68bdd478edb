#include "insight/insitu/operators/binned_sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "insight/insitu/vector_targets.hpp"

namespace forebay::insitu {

namespace {

constexpr int bin_bits = 32;
// The highest level has a finite anchor. The lowest level has three units that are not subnormal.
constexpr int level_min = -30, level_max = 29;
constexpr std::size_t chunk_values = 256;
constexpr double limb_units_max = 0x1p52;

enum Special : std::uint8_t { not_a_number = 1, positive_infinity = 2, negative_infinity = 4 };

/// Adding the anchor to a value rounds the value to the level's unit. It is 1.5 x 2^52 units.
FB_KERNEL double anchor_of(int level) {
    return std::bit_cast<double>((static_cast<std::uint64_t>(1023 + 52 + bin_bits * level) << 52) + (1ull << 51));
}
double unit_of(int level) { return anchor_of(level) / 0x1.8p52; }
/// The lowest level at which a finite value has less than 2^31 units.
std::int8_t level_of_value(double value) {
    const auto biased = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7FF);
    const int above = biased - 1022;  // |value| < 2^above
    static_assert(bin_bits == 1 << 5);
    return static_cast<std::int8_t>(std::max(above >> 5, level_min));
}

constexpr double next_bin = 0x1p-32;
// If this times a value is below a level's anchor, the value is below 2^31 units: an anchor is 1.5 x 2^52 units.
constexpr double anchor_share = 0x1.8p21;

/// True if the value fits the level; NaN fits no level.
FB_KERNEL bool fits(double value, int level) { return std::abs(value) * anchor_share < anchor_of(level); }

/// Adds value i * `by` to sum i. If a value does not fit the level of its sum, adds none and returns false.
template <bool has_low>
struct AddEach {
    FB_KERNEL static bool run(const double* values, std::size_t by, const std::int8_t* levels, double* high,
                              double* middle, double* low, std::size_t count) {
        std::uint8_t others = 0;  // bits that differ between levels
        for (std::size_t i = 0; i < count; ++i) others |= static_cast<std::uint8_t>(levels[i] ^ levels[0]);
        // Usually all levels are equal. That case takes half of the time.
        return others == 0 ? add<0>(values, by, levels, high, middle, low, count)
                           : add<1>(values, by, levels, high, middle, low, count);
    }

private:
    /// `stride`: the distance between levels, 0 or 1.
    template <std::size_t stride>
    FB_KERNEL static bool add(const double* __restrict values, std::size_t by, const std::int8_t* __restrict levels,
                              double* __restrict high, double* __restrict middle, double* __restrict low,
                              std::size_t count) {
        std::uint64_t unfit = 0;
        for (std::size_t i = 0; i < count; ++i) unfit += fits(values[i * by], levels[i * stride]) ? 0 : 1;
        if (unfit != 0) return false;
        for (std::size_t i = 0; i < count; ++i) {
            const double value = values[i * by];
            const double anchor = anchor_of(levels[i * stride]), next_anchor = anchor * next_bin;
            const double part = (value + anchor) - anchor, rest = value - part;
            const double next_part = (rest + next_anchor) - next_anchor;
            high[i] += part;
            middle[i] += next_part;
            if constexpr (has_low) {
                const double last_anchor = next_anchor * next_bin;
                low[i] += ((rest - next_part) + last_anchor) - last_anchor;
            }
        }
        return true;
    }
};

/// Counts the values that do not fit the level.
struct CountUnfit {
    FB_KERNEL static std::uint64_t run(const double* values, int level, std::size_t count) {
        std::uint64_t unfit = 0;
        for (std::size_t i = 0; i < count; ++i) unfit += fits(values[i], level) ? 0 : 1;
        return unfit;
    }
};

/// The limbs of values for one sum; all values must fit it. Several partial sums run side by side for the vector units.
/// They are exact, so their order is free.
template <bool has_low>
struct AddAll {
    FB_KERNEL static std::array<double, 3> run(const double* values, double anchor, std::size_t count) {
        constexpr std::size_t lanes = 16;
        const double next_anchor = anchor * next_bin, last_anchor = next_anchor * next_bin;
        double high[lanes] = {}, middle[lanes] = {}, low[lanes] = {};
        for (std::size_t i = 0; i < count; i += lanes) {
            const auto used = std::min(lanes, count - i);
            double batch[lanes] = {};
            for (std::size_t lane = 0; lane < used; ++lane) batch[lane] = values[i + lane];
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const double part = (batch[lane] + anchor) - anchor, rest = batch[lane] - part;
                const double next_part = (rest + next_anchor) - next_anchor;
                high[lane] += part;
                middle[lane] += next_part;
                if constexpr (has_low) low[lane] += ((rest - next_part) + last_anchor) - last_anchor;
            }
        }
        std::array<double, 3> limbs{};
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            limbs[0] += high[lane];
            limbs[1] += middle[lane];
            limbs[2] += low[lane];
        }
        return limbs;
    }
};

}  // namespace

BinnedSums::BinnedSums(std::size_t count, int bins) : bins_(bins), levels_(count, level_min) {
    for (int bin = 0; bin < bins; ++bin) limbs_[static_cast<std::size_t>(bin)].assign(count, 0.0);
}

void BinnedSums::raise(std::size_t at, std::int8_t level) {
    const auto steps = static_cast<std::size_t>(level - levels_[at]);
    levels_[at] = level;
    for (auto bin = static_cast<std::size_t>(bins_); bin-- > 0;)
        // Raising by `steps` moves each limb down. The lowest limbs are dropped.
        limbs_[bin][at] = bin >= steps ? limbs_[bin - steps][at] : 0.0;
}

void BinnedSums::add_one(std::size_t at, double value) {
    // True for NaN too: comparisons with NaN are false.
    if (!(std::abs(value) < 0x1p959)) {
        if (specials_.empty()) specials_.resize(count());
        const auto special = std::isnan(value) ? not_a_number : value > 0 ? positive_infinity : negative_infinity;
        specials_[at] = static_cast<std::uint8_t>(specials_[at] | special);
        return;
    }
    if (value == 0) return;
    if (!fits(value, levels_[at])) raise(at, level_of_value(value));
    double anchor = anchor_of(levels_[at]);
    for (std::size_t bin = 0; bin < static_cast<std::size_t>(bins_); ++bin) {
        const double part = (value + anchor) - anchor;
        limbs_[bin][at] += part;
        value -= part;
        anchor *= next_bin;
    }
}

void BinnedSums::add_each(std::size_t first, std::span<const double> values, std::size_t by) {
    while (!values.empty()) {
        // In chunks, so that a value that does not fit slows down only its chunk.
        const auto part = values.first(std::min(values.size(), chunk_values * by));
        const auto count = (part.size() - 1) / by + 1;
        const std::int8_t* const levels = levels_.data() + first;
        double* const high = limbs_[0].data() + first;
        double* const middle = limbs_[1].data() + first;
        double* const low = bins_ == bins_of_single ? nullptr : limbs_[2].data() + first;
        const bool are_added = low == nullptr
                                   ? vectorised<AddEach<false>>(part.data(), by, levels, high, middle, low, count)
                                   : vectorised<AddEach<true>>(part.data(), by, levels, high, middle, low, count);
        // One value at a time can raise levels and note infinities.
        if (!are_added)
            for (std::size_t i = 0; i < count; ++i) add_one(first + i, part[i * by]);
        first += count;
        values = values.subspan(part.size());
    }
}

void BinnedSums::add_all(std::size_t at, std::span<const double> values) {
    if (vectorised<CountUnfit>(values.data(), int{levels_[at]}, values.size()) != 0) {
        for (const double value : values) add_one(at, value);
        return;
    }
    const double anchor = anchor_of(levels_[at]);
    const auto limbs = bins_ == bins_of_single ? vectorised<AddAll<false>>(values.data(), anchor, values.size())
                                               : vectorised<AddAll<true>>(values.data(), anchor, values.size());
    for (std::size_t bin = 0; bin < static_cast<std::size_t>(bins_); ++bin) limbs_[bin][at] += limbs[bin];
}

void BinnedSums::add_sum(std::size_t at, const BinnedSums& other, std::size_t i) {
    const auto level = levels_[at], other_level = other.levels_[i];
    if (other_level > level) raise(at, other_level);
    // The limbs of `other` count from its own level.
    const auto steps = static_cast<std::size_t>(std::max(level, other_level) - other_level);
    for (auto bin = steps; bin < static_cast<std::size_t>(bins_); ++bin)
        limbs_[bin][at] += other.limbs_[bin - steps][i];
    if (other.specials_.empty() || other.specials_[i] == 0) return;
    if (specials_.empty()) specials_.resize(count());
    specials_[at] = static_cast<std::uint8_t>(specials_[at] | other.specials_[i]);
}

double BinnedSums::value(std::size_t i) const {
    const auto special = specials_.empty() ? std::uint8_t{0} : specials_[i];
    if (special == positive_infinity) return std::numeric_limits<double>::infinity();
    if (special == negative_infinity) return -std::numeric_limits<double>::infinity();
    if (special != 0) return std::numeric_limits<double>::quiet_NaN();
    // The same sum can be spread over the limbs in several ways. Carries make it unique.
    std::array<double, 3> limbs{};
    for (std::size_t bin = 0; bin < static_cast<std::size_t>(bins_); ++bin) limbs[bin] = limbs_[bin][i];
    for (auto bin = static_cast<std::size_t>(bins_); bin-- > 1;) {
        const double unit = unit_of(levels_[i] - static_cast<int>(bin) + 1);
        const double carry = std::floor(limbs[bin] / unit + 0.5) * unit;
        limbs[bin] -= carry;
        limbs[bin - 1] += carry;
    }
    double sum = 0;
    for (auto bin = static_cast<std::size_t>(bins_); bin-- > 0;) sum += limbs[bin];
    return sum;
}

void BinnedSums::write(PartWriter& to) const {
    to.numbers<std::int8_t>(levels_);
    for (int bin = 0; bin < bins_; ++bin) to.numbers<double>(limbs_[static_cast<std::size_t>(bin)]);
    to.numbers<std::uint8_t>(specials_);
}

bool BinnedSums::read(PartReader& from, std::size_t count) {
    levels_ = from.numbers<std::int8_t>(count);
    if (levels_.size() != count) return false;
    if (std::ranges::any_of(levels_, [](int level) { return level < level_min || level > level_max; })) return false;
    for (int bin = 0; bin < bins_; ++bin) {
        auto& limbs = limbs_[static_cast<std::size_t>(bin)];
        limbs = from.numbers<double>(count);
        if (limbs.size() != count) return false;
        for (std::size_t i = 0; i < count; ++i) {
            const double units = limbs[i] / unit_of(levels_[i] - bin);
            // A limb must be a whole number of its units, small enough to stay exact.
            if (!(std::abs(units) <= limb_units_max) || units != std::floor(units)) return false;
        }
    }
    specials_ = from.numbers<std::uint8_t>(count);
    return specials_.empty() || specials_.size() == count;
}

}  // namespace forebay::insitu
