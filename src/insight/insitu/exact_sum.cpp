#include "insight/insitu/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

namespace forebay::insitu {

namespace {

constexpr std::int64_t limb_unit = std::int64_t{1} << 32;
// One addition changes a limb by less than 2^32, so this many cannot overflow 63 bits.
constexpr std::uint32_t additions_max = 1u << 30;

struct Parts {
    std::int64_t mantissa;  // signed
    int exponent;
};

Parts parts_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int biased = static_cast<int>(bits >> 52 & 0x7FF);
    auto mantissa = static_cast<std::int64_t>(bits & ((1ull << 52) - 1));
    if (biased > 0) mantissa |= std::int64_t{1} << 52;
    return {bits >> 63 != 0 ? -mantissa : mantissa, (biased > 0 ? biased : 1) - 1075};
}

}  // namespace

double Leading::rounded() const {
    if (bits == 0) return 0;
    // A double has 53 bits and no bit below 2^-1074. All lower bits are rounded once, here.
    const int drop = std::max(11, -1074 - exponent);
    double value = 0;
    if (drop <= 64) {
        const auto kept = static_cast<std::uint64_t>(WideUnsigned{bits} >> drop);
        const auto half = WideUnsigned{1} << (drop - 1);
        const auto dropped = WideUnsigned{bits} & (2 * half - 1);
        // A tie goes to the even number, unless lower bits remain.
        const bool up = dropped > half || (dropped == half && (more || (kept & 1) != 0));
        value = std::ldexp(static_cast<double>(kept + (up ? 1 : 0)), exponent + drop);
    }
    return negative ? -value : value;
}

Leading Leading::over(std::uint64_t divisor) const {
    if (bits == 0) return *this;
    const auto wide = WideUnsigned{bits} << 64;
    const auto quotient = wide / divisor;  // at least 64 bits
    const auto high = static_cast<std::uint64_t>(quotient >> 64);
    const int drop = static_cast<int>(std::bit_width(high));
    const auto dropped = quotient & ((WideUnsigned{1} << drop) - 1);
    const bool has_more = more || dropped != 0 || wide % divisor != 0;
    return {static_cast<std::uint64_t>(quotient >> drop), exponent - 64 + drop, negative, has_more};
}

void ExactSum::add(double value) {
    const auto parts = parts_of(value);
    add(Wide{parts.mantissa}, parts.exponent);
}

void ExactSum::add_square(double value) {
    const auto parts = parts_of(value);
    add(Wide{parts.mantissa} * parts.mantissa, 2 * parts.exponent);
}

void ExactSum::add(Wide value, int exponent) {
    const bool negative = value < 0;
    auto rest = negative ? -static_cast<WideUnsigned>(value) : static_cast<WideUnsigned>(value);
    const auto bit = static_cast<unsigned>(exponent - lowest_exponent);
    auto limb = static_cast<std::size_t>(bit / 32);
    const auto shift = bit % 32;
    // The first limb takes the bits above `shift`; each further limb takes 32 bits. Bits beyond the last limb are
    // dropped: they come only from a damaged part.
    auto low = static_cast<std::int64_t>(static_cast<std::uint64_t>(rest << shift) & 0xFFFFFFFFu);
    rest >>= 32 - shift;
    for (; limb < limbs_.size(); ++limb) {
        limbs_[limb] += negative ? -low : low;
        if (rest == 0) break;
        low = static_cast<std::int64_t>(static_cast<std::uint64_t>(rest) & 0xFFFFFFFFu);
        rest >>= 32;
    }
    note_addition();
}

void ExactSum::note_addition() {
    if (++additions_ < additions_max) return;
    // After the carry each limb is below 2^32, as after a single addition.
    carry(limbs_);
    additions_ = 1;
}

void ExactSum::carry(Limbs& limbs) {
    std::int64_t over = 0;
    for (std::size_t i = 0; i + 1 < limbs.size(); ++i) {
        const auto value = limbs[i] + over;
        over = value >> 32;
        limbs[i] = value & (limb_unit - 1);
    }
    limbs.back() += over;
}

ExactSum::Limbs ExactSum::carried() const {
    auto limbs = limbs_;
    carry(limbs);
    return limbs;
}

void ExactSum::merge(const ExactSum& other) {
    const auto limbs = other.carried();
    for (std::size_t i = 0; i < limbs.size(); ++i) limbs_[i] += limbs[i];
    note_addition();
}

Leading ExactSum::leading() const {
    Leading top;
    auto limbs = carried();
    top.negative = limbs.back() < 0;
    // The sign is kept apart: limbs of a negative number are negated, so that the top bits are its magnitude.
    if (top.negative) {
        for (auto& limb : limbs) limb = -limb;
        carry(limbs);
    }
    auto highest = static_cast<int>(limbs.size()) - 1;
    while (highest >= 0 && limbs[static_cast<std::size_t>(highest)] == 0) --highest;
    if (highest < 0) return {};
    const auto limb = [&](int index) {
        return index < 0 ? 0u : static_cast<std::uint64_t>(limbs[static_cast<std::size_t>(index)]);
    };
    // A window of 96 bits holds the top 64 bits wherever they begin.
    const auto window = WideUnsigned{limb(highest)} << 64 | WideUnsigned{limb(highest - 1) << 32 | limb(highest - 2)};
    const int drop = static_cast<int>(std::bit_width(limb(highest)));
    top.exponent = 32 * (highest - 2) + lowest_exponent + drop;
    top.bits = static_cast<std::uint64_t>(window >> drop);
    top.more = (window & ((WideUnsigned{1} << drop) - 1)) != 0;
    for (int below = highest - 3; below >= 0 && !top.more; --below) top.more = limb(below) != 0;
    return top;
}

ExactSum ExactSum::times_less_square(std::uint64_t count, const ExactSum& other) const {
    ExactSum result;
    const auto own = carried();
    for (std::size_t i = 0; i < own.size(); ++i)
        if (own[i] != 0)
            result.add(Wide{own[i]} * static_cast<Wide>(count), lowest_exponent + 32 * static_cast<int>(i));
    // A sum of doubles is a multiple of 2^-1088, so the square's lowest limb is the lowest limb here.
    auto factors = other.carried();
    if (factors.back() < 0) {
        for (auto& limb : factors) limb = -limb;
        carry(factors);
    }
    for (std::size_t i = 0; i < factors.size(); ++i) {
        if (factors[i] == 0) continue;
        for (std::size_t j = 0; j < factors.size(); ++j)
            if (factors[j] != 0)
                result.add(-Wide{factors[i]} * factors[j], 2 * lowest_exponent + 32 * static_cast<int>(i + j));
    }
    return result;
}

void ExactSum::write(PartWriter& part) const {
    const auto limbs = carried();
    std::size_t first = 0, last = limbs.size();
    // Only used limbs are written: most sums need few of them.
    while (first < last && limbs[first] == 0) ++first;
    while (last > first && limbs[last - 1] == 0) --last;
    part.number(static_cast<std::uint64_t>(first));
    part.numbers(std::span<const std::int64_t>(limbs).subspan(first, last - first));
}

Result<> ExactSum::read(PartReader& part) {
    const auto first = part.number<std::uint64_t>();
    const auto limbs = part.numbers<std::int64_t>(limbs_count);
    const Error damaged{ErrorKind::corrupt, "a sum is damaged"};
    if (first > limbs_count || limbs.size() > limbs_count - first) return damaged;
    Limbs read{};
    for (std::size_t i = 0; i < limbs.size(); ++i) {
        const auto index = static_cast<std::size_t>(first) + i;
        // Only the highest limb may be negative: it holds the sign.
        const bool highest = index + 1 == limbs_count;
        if (limbs[i] >= limb_unit || limbs[i] < (highest ? -limb_unit : 0)) return damaged;
        read[index] = limbs[i];
    }
    limbs_ = read;
    additions_ = 1;
    return {};
}

}  // namespace forebay::insitu
