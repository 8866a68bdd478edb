#include "insight/insitu/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "insight/insitu/font.hpp"

namespace forebay::insitu {

namespace {

/// 10^exponent, exact as far as a double can be; `pow` is not, everywhere.
double power_of_ten(int exponent) { return std::strtod(fmt::format("1e{}", exponent).c_str(), nullptr); }

struct Step {
    int digit = 1;     // 1, 2 or 5
    int exponent = 0;  // times that power of ten
};

/// The smallest step of which at most `most` marks fit into `range`.
Step smallest_step(double range, int most) {
    const double least = range / most;
    Step step{1, static_cast<int>(std::floor(std::log10(least)))};
    for (const int digit : {1, 2, 5}) {
        step.digit = digit;
        if (digit * power_of_ten(step.exponent) >= least) return step;
    }
    return {1, step.exponent + 1};
}

constexpr int digits_max = 6;  // of a label, behind its first one

/// Of a range that is narrow for its numbers: each label is what its mark has more than the one below the first.
Ticks ticks_beyond(double low, double high, int most, int exponent, int digits) {
    const double coarse = power_of_ten(exponent + 1);
    const double base = std::floor(low / coarse) * coarse;
    // Of the largest number's last digit, which the difference may be off.
    const double largest = std::max(std::abs(low), std::abs(high));
    const double slack = std::nextafter(largest, std::numeric_limits<double>::max()) - largest;
    auto ticks = linear_ticks(low - base - slack, high - base + slack, most);
    for (auto& mark : ticks.marks) mark.at = std::clamp(mark.at + base, low, high);
    ticks.factor +=
        fmt::format("{}{} {:.{}g}", ticks.factor.empty() ? "" : " ", base < 0 ? "-" : "+", std::abs(base), digits);
    return ticks;
}

std::string decade_label(int exponent, bool as_power) {
    if (as_power && exponent != 0) return "10" + superscript(exponent);
    return exponent < 0 ? fmt::format("{:.{}f}", power_of_ten(exponent), -exponent)
                        : fmt::format("{:.0f}", power_of_ten(exponent));
}

/// Powers of ten that lie in the range, every so many of them that `most` suffice.
Ticks decades(int first, int last, int most) {
    const int every = std::max(1, (last - first + most) / most);
    const bool as_power = first < -3 || last > 4;
    Ticks ticks;
    // Multiples of the distance, so that 1 is among them.
    for (int exponent = first; exponent <= last; ++exponent)
        if (exponent % every == 0) ticks.marks.push_back({power_of_ten(exponent), decade_label(exponent, as_power)});
    return ticks;
}

}  // namespace

Ticks linear_ticks(double low, double high, int most) {
    if (!(low < high) || !std::isfinite(high - low) || most < 1) return {};
    const auto [digit, exponent] = smallest_step(high - low, most);
    const double unit = power_of_ten(exponent);
    if (unit == 0) return {};
    const double largest = std::max(std::abs(low), std::abs(high));
    const int magnitude = static_cast<int>(std::floor(std::log10(largest)));
    const int shift = magnitude >= 5 || magnitude < -3 ? magnitude : 0;
    const int decimals = std::max(0, shift - exponent);
    Ticks ticks;
    if (shift != 0) ticks.factor = "×10" + superscript(shift);
    // A range that is no wider than its numbers' rounding has marks that fall together: one digit less than a double's.
    if (magnitude - exponent > 14) return {};
    if (magnitude - exponent > digits_max) return ticks_beyond(low, high, most, exponent, magnitude - exponent);
    const double slack = 1e-9 * (high - low);
    for (double count = std::ceil((low - slack) / (digit * unit)); count * digit * unit <= high + slack; ++count) {
        const double multiple = count * digit;  // whole, so the label has no rounding of its own
        auto label = fmt::format("{:.{}f}", multiple / power_of_ten(shift - exponent), decimals);
        if (multiple == 0) label = "0";
        ticks.marks.push_back({std::clamp(multiple * unit, low, high), std::move(label)});
    }
    return ticks;
}

Ticks log_ticks(double low, double high, int most) {
    if (!(low > 0) || !(low < high) || !std::isfinite(high) || most < 1) return {};
    constexpr double slack = 1e-9;
    const int first = static_cast<int>(std::ceil(std::log10(low) - slack));
    const int last = static_cast<int>(std::floor(std::log10(high) + slack));
    if (last - first >= 2 || 3 * (last - first + 2) > most + 3) {
        auto ticks = decades(first, last, most);
        if (ticks.marks.size() >= 2) return ticks;
    }
    Ticks ticks;
    const bool as_power = first < -3 || last > 4;
    for (int exponent = first - 1; exponent <= last; ++exponent) {
        for (const int digit : {1, 2, 5}) {
            const double at = digit * power_of_ten(exponent);
            if (at < low * (1 - slack) || at > high * (1 + slack)) continue;
            auto label = decade_label(exponent, as_power);
            if (digit != 1 && as_power) label = fmt::format("{}×{}", digit, label);
            else if (digit != 1) label.replace(label.find('1'), 1, std::to_string(digit));
            ticks.marks.push_back({std::clamp(at, low, high), std::move(label)});
        }
    }
    if (ticks.marks.size() >= 3) return ticks;
    return linear_ticks(low, high, most);
}

int label_columns(const Ticks& ticks) {
    int columns = 0;
    for (const auto& mark : ticks.marks) columns = std::max(columns, text_columns(mark.label));
    return columns;
}

std::string with_factor(const std::string& label, const Ticks& ticks) {
    if (ticks.factor.empty()) return label;
    return label.empty() ? ticks.factor : label + "  " + ticks.factor;
}

Ticks fitting_ticks(const std::function<Ticks(int most)>& ticks_of, int width, int scale) {
    for (int most = std::clamp(width / (18 * scale), 1, 10);; --most) {
        auto ticks = ticks_of(most);
        const auto needed = (label_columns(ticks) + 10) * scale * static_cast<int>(ticks.marks.size());
        if (most <= 1 || needed <= width) return ticks;
    }
}

}  // namespace forebay::insitu
