#include "insitu/operators/binned_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "insitu/vector_targets.hpp"

namespace forebay::insitu {

namespace {

constexpr int bin_bits = 32;
// The highest level has an anchor that is finite, the lowest has three units that are not subnormal.
constexpr int level_min = -30, level_max = 29;
constexpr std::size_t chunk_values = 256;
constexpr double limb_units_max = 0x1p52;

enum Special : std::uint8_t { not_a_number = 1, positive_infinity = 2, negative_infinity = 4 };

double unit_of(int level) { return std::ldexp(1.0, bin_bits * level); }
double anchor_of(int level) { return std::ldexp(1.5, 52 + bin_bits * level); }
/// Of a level's anchor.
int level_of_anchor(double anchor) { return (std::ilogb(anchor) - 52) / bin_bits; }
/// The lowest one of whose units a finite value, not 0, has less than 2^31.
int level_of_value(double value) {
    const int above = std::ilogb(value) + 1;  // |value| < 2^above
    const int level = above >= 0 ? above / bin_bits : -((bin_bits - 1 - above) / bin_bits);
    return std::max(level, level_min);
}

constexpr double next_bin = 0x1p-32;
// A value times this is below the anchor of a level if it is below 2^31 units: an anchor is 1.5 x 2^52 of them.
constexpr double anchor_share = 0x1.8p21;

/// How many of the values do not fit the levels of their sums; NaN fits none. `stride` 0: all have one anchor.
template <std::size_t stride>
struct CountUnfit {
    FB_KERNEL static std::uint64_t run(const double* values, const double* anchors, std::size_t count) {
        std::uint64_t unfit = 0;
        for (std::size_t i = 0; i < count; ++i)
            unfit += std::abs(values[i]) * anchor_share < anchors[i * stride] ? 0 : 1;
        return unfit;
    }
};

/// Adds values that fit, each to a sum of its own.
template <bool has_low>
struct AddEach {
    FB_KERNEL static void run(const double* __restrict values, const double* __restrict anchors,
                              double* __restrict high, double* __restrict middle, double* __restrict low,
                              std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const double anchor = anchors[i], next_anchor = anchor * next_bin;
            const double part = (values[i] + anchor) - anchor, rest = values[i] - part;
            const double next_part = (rest + next_anchor) - next_anchor;
            high[i] += part;
            middle[i] += next_part;
            if constexpr (has_low) {
                const double last_anchor = next_anchor * next_bin;
                low[i] += ((rest - next_part) + last_anchor) - last_anchor;
            }
        }
    }
};

/// The limbs of values that fit one sum. Several sums stand beside each other, as a processor adds them at once: they
/// are exact, so their order is free.
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

BinnedSums::BinnedSums(std::size_t count, int bins) : bins_(bins), anchors_(count, anchor_of(level_min)) {
    for (int bin = 0; bin < bins; ++bin) limbs_[static_cast<std::size_t>(bin)].assign(count, 0.0);
}

void BinnedSums::raise(std::size_t at, int level) {
    const auto steps = static_cast<std::size_t>(level - level_of_anchor(anchors_[at]));
    anchors_[at] = anchor_of(level);
    for (auto bin = static_cast<std::size_t>(bins_); bin-- > 0;)
        limbs_[bin][at] = bin >= steps ? limbs_[bin - steps][at] : 0.0;
}

void BinnedSums::add_one(std::size_t at, double value) {
    if (!(std::abs(value) < 0x1p959)) {
        if (specials_.empty()) specials_.resize(count());
        const auto special = std::isnan(value) ? not_a_number : value > 0 ? positive_infinity : negative_infinity;
        specials_[at] = static_cast<std::uint8_t>(specials_[at] | special);
        return;
    }
    if (value == 0) return;
    if (!(std::abs(value) * anchor_share < anchors_[at])) raise(at, level_of_value(value));
    double anchor = anchors_[at];
    for (std::size_t bin = 0; bin < static_cast<std::size_t>(bins_); ++bin) {
        const double part = (value + anchor) - anchor;
        limbs_[bin][at] += part;
        value -= part;
        anchor *= next_bin;
    }
}

void BinnedSums::add_each(std::size_t first, std::span<const double> values) {
    while (!values.empty()) {
        const auto part = values.first(std::min(values.size(), chunk_values));
        const double* const anchors = anchors_.data() + first;
        double* const high = limbs_[0].data() + first;
        double* const middle = limbs_[1].data() + first;
        if (vectorised<CountUnfit<1>>(part.data(), anchors, part.size()) != 0) {
            for (std::size_t i = 0; i < part.size(); ++i) add_one(first + i, part[i]);
        } else if (bins_ == bins_of_single) {
            vectorised<AddEach<false>>(part.data(), anchors, high, middle, static_cast<double*>(nullptr), part.size());
        } else {
            vectorised<AddEach<true>>(part.data(), anchors, high, middle, limbs_[2].data() + first, part.size());
        }
        first += part.size();
        values = values.subspan(part.size());
    }
}

void BinnedSums::add_all(std::size_t at, std::span<const double> values) {
    if (vectorised<CountUnfit<0>>(values.data(), static_cast<const double*>(&anchors_[at]), values.size()) != 0) {
        for (const double value : values) add_one(at, value);
        return;
    }
    const auto limbs = bins_ == bins_of_single ? vectorised<AddAll<false>>(values.data(), anchors_[at], values.size())
                                               : vectorised<AddAll<true>>(values.data(), anchors_[at], values.size());
    for (std::size_t bin = 0; bin < static_cast<std::size_t>(bins_); ++bin) limbs_[bin][at] += limbs[bin];
}

void BinnedSums::add_sum(std::size_t at, const BinnedSums& other, std::size_t i) {
    const int level = level_of_anchor(anchors_[at]), other_level = level_of_anchor(other.anchors_[i]);
    if (other_level > level) raise(at, other_level);
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
    // The same sum can be dealt out over the limbs in several ways: carries make one of them.
    const int level = level_of_anchor(anchors_[i]);
    std::array<double, 3> limbs{};
    for (std::size_t bin = 0; bin < static_cast<std::size_t>(bins_); ++bin) limbs[bin] = limbs_[bin][i];
    for (auto bin = static_cast<std::size_t>(bins_); bin-- > 1;) {
        const double unit = unit_of(level - static_cast<int>(bin) + 1);
        const double carry = std::floor(limbs[bin] / unit + 0.5) * unit;
        limbs[bin] -= carry;
        limbs[bin - 1] += carry;
    }
    double sum = 0;
    for (auto bin = static_cast<std::size_t>(bins_); bin-- > 0;) sum += limbs[bin];
    return sum;
}

void BinnedSums::write(PartWriter& to) const {
    std::vector<std::int8_t> levels;
    levels.reserve(count());
    for (const double anchor : anchors_) levels.push_back(static_cast<std::int8_t>(level_of_anchor(anchor)));
    to.numbers<std::int8_t>(levels);
    for (int bin = 0; bin < bins_; ++bin) to.numbers<double>(limbs_[static_cast<std::size_t>(bin)]);
    to.numbers<std::uint8_t>(specials_);
}

bool BinnedSums::read(PartReader& from, std::size_t count) {
    const auto levels = from.numbers<std::int8_t>(count);
    if (levels.size() != count) return false;
    if (std::ranges::any_of(levels, [](int level) { return level < level_min || level > level_max; })) return false;
    anchors_.clear();
    for (const int level : levels) anchors_.push_back(anchor_of(level));
    for (int bin = 0; bin < bins_; ++bin) {
        auto& limbs = limbs_[static_cast<std::size_t>(bin)];
        limbs = from.numbers<double>(count);
        if (limbs.size() != count) return false;
        for (std::size_t i = 0; i < count; ++i) {
            const double units = limbs[i] / unit_of(levels[i] - bin);
            if (!(std::abs(units) <= limb_units_max) || units != std::floor(units)) return false;
        }
    }
    specials_ = from.numbers<std::uint8_t>(count);
    return specials_.empty() || specials_.size() == count;
}

}  // namespace forebay::insitu
