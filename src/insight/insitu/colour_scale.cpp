#include "insight/insitu/colour_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace forebay::insitu {

namespace {

constexpr float largest_float = std::numeric_limits<float>::max();

/// The least and the greatest finite value above `floor`. If there is none, the first exceeds the second.
std::pair<double, double> finite_range(std::span<const float> values, float floor) {
    // Comparisons with NaN are false, so NaN never counts.
    float least = std::numeric_limits<float>::infinity(), greatest = -std::numeric_limits<float>::infinity();
    for (const float value : values) {
        const bool counts = value > floor && value <= largest_float;
        least = std::min(least, counts ? value : least);
        greatest = std::max(greatest, counts ? value : greatest);
    }
    return {least, greatest};
}

}  // namespace

ColourScale::ColourScale(double low, double high, bool log) : low_(low), high_(high), log_(log) {
    if (is_empty()) return;
    begin_ = log ? std::log(low) : low;
    per_unit_ = 1 / ((log ? std::log(high) : high) - begin_);
}

Result<ColourScale> ColourScale::over(std::span<const float> values, double low, double high, bool log,
                                      bool is_around_zero) {
    if (low >= high) return Error{ErrorKind::refused, "the lowest value of the colours is not below the highest"};
    if (log && (low <= 0 || high <= 0)) return Error{ErrorKind::refused, "logarithmic colours need limits above 0"};
    if (std::isinf(low) || std::isinf(high))
        return Error{ErrorKind::refused, "the limits of the colours are not finite"};
    if (std::isnan(low) || std::isnan(high)) {
        const float floor = log ? 0.0f : -std::numeric_limits<float>::infinity();
        const auto [least, greatest] = finite_range(values, floor);
        const bool is_found = least <= greatest;
        if (!is_found && std::isnan(low) && std::isnan(high)) return ColourScale(0, 0, log);
        const bool low_given = !std::isnan(low), high_given = !std::isnan(high);
        // A given end on the wrong side of 0 cannot be mirrored.
        if (is_around_zero && !log && !(low_given && low >= 0) && !(high_given && high <= 0)) {
            const double largest = std::max(std::abs(double{least}), std::abs(double{greatest}));
            const double end = low_given ? -low : high_given ? high : largest > 0 ? largest : 1;
            return ColourScale(-end, end, log);
        }
        if (!low_given) low = is_found ? least : high;
        if (!high_given) high = is_found ? greatest : low;
        if (low >= high) {
            // Moves both ends, or only the end that is not given.
            const double middle = low_given ? low : high;
            const double half = middle == 0 ? 1 : std::abs(middle) / 2;
            if (!low_given || !high_given) {
                if (!low_given) low = log ? middle / 2 : middle - half;
                if (!high_given) high = log ? middle * 2 : middle + half;
            }
        }
    }
    return ColourScale(low, high, log);
}

double ColourScale::share_of(double value) const { return ((log_ ? std::log(value) : value) - begin_) * per_unit_; }

void ColourScale::steps_of(std::span<const float> values, int steps, std::span<std::uint8_t> to) const {
    // Plain loops without branches, so that the compiler vectorises them. Comparisons with NaN are false.
    const double begin = begin_, scale = per_unit_ * (steps - 1), last = steps - 1;
    const auto step_at = [&](double place) {
        const double step = (place - begin) * scale;
        const double above = step > 0 ? step : 0;
        return static_cast<int>((above < last ? above : last) + 0.5);
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float value = values[i];
        if (log_) {
            to[i] = value > 0 ? static_cast<std::uint8_t>(step_at(static_cast<double>(std::log(value)))) : none;
        } else {
            const int step = step_at(static_cast<double>(value));
            to[i] = static_cast<std::uint8_t>(value == value ? step : int{none});
        }
    }
    // An empty range has no direction, so every value gets the middle colour.
    if (!is_empty()) return;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (to[i] != none) to[i] = static_cast<std::uint8_t>(steps / 2);
}

}  // namespace forebay::insitu
