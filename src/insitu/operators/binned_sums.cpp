#include "insitu/operators/binned_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

template <int bins>
void BinnedSums::add_calm(std::size_t first, std::span<const double> values) {
    // Plain pointers of their own: the compiler then makes vectors of the loop.
    const double* __restrict const from = values.data();
    const double* __restrict const anchors = anchors_.data() + first;
    double* __restrict const high = limbs_[0].data() + first;
    double* __restrict const middle = limbs_[1].data() + first;
    double* __restrict const low = bins == bins_of_double ? limbs_[2].data() + first : nullptr;
    const std::size_t count = values.size();
    for (std::size_t i = 0; i < count; ++i) {
        const double anchor = anchors[i], next_anchor = anchor * next_bin;
        const double part = (from[i] + anchor) - anchor, rest = from[i] - part;
        const double next_part = (rest + next_anchor) - next_anchor;
        high[i] += part;
        middle[i] += next_part;
        if constexpr (bins == bins_of_double) {
            const double last_anchor = next_anchor * next_bin;
            low[i] += ((rest - next_part) + last_anchor) - last_anchor;
        }
    }
}

void BinnedSums::add_each(std::size_t first, std::span<const double> values) {
    while (!values.empty()) {
        const auto part = values.first(std::min(values.size(), chunk_values));
        std::uint64_t unfit = 0;
        for (std::size_t i = 0; i < part.size(); ++i)
            unfit += std::abs(part[i]) * anchor_share < anchors_[first + i] ? 0 : 1;
        if (unfit != 0) {
            for (std::size_t i = 0; i < part.size(); ++i) add_one(first + i, part[i]);
        } else if (bins_ == bins_of_single) {
            add_calm<bins_of_single>(first, part);
        } else {
            add_calm<bins_of_double>(first, part);
        }
        first += part.size();
        values = values.subspan(part.size());
    }
}

template <int bins>
void BinnedSums::add_all_calm(std::size_t at, std::span<const double> values) {
    // Several sums beside each other, as a processor adds them at once; they are exact, so their order is free.
    constexpr std::size_t lanes = 8;
    const double anchor = anchors_[at], next_anchor = anchor * next_bin, last_anchor = next_anchor * next_bin;
    std::array<double, lanes> high{}, middle{}, low{};
    const auto add = [&](double value, std::size_t lane) {
        const double part = (value + anchor) - anchor, rest = value - part;
        const double next_part = (rest + next_anchor) - next_anchor;
        high[lane] += part;
        middle[lane] += next_part;
        if constexpr (bins == bins_of_double) low[lane] += ((rest - next_part) + last_anchor) - last_anchor;
    };
    const auto whole = values.size() / lanes * lanes;
    const double* const from = values.data();
    for (std::size_t i = 0; i < whole; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) add(from[i + lane], lane);
    for (std::size_t i = whole; i < values.size(); ++i) add(from[i], 0);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        limbs_[0][at] += high[lane];
        limbs_[1][at] += middle[lane];
        if constexpr (bins == bins_of_double) limbs_[2][at] += low[lane];
    }
}

void BinnedSums::add_all(std::size_t at, std::span<const double> values) {
    double largest = 0;
    for (const double value : values) {
        const double size = std::abs(value);
        largest = size <= largest ? largest : size;  // NaN stays once it is there
    }
    if (!(largest < 0x1p959)) {
        for (const double value : values) add_one(at, value);
        return;
    }
    if (!(largest * anchor_share < anchors_[at])) raise(at, level_of_value(largest));
    if (bins_ == bins_of_single) add_all_calm<bins_of_single>(at, values);
    else add_all_calm<bins_of_double>(at, values);
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
