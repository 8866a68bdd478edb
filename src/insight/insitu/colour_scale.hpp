// Maps values to colours: a linear or logarithmic range in steps of equal width.

#pragma once

#include <cstdint>
#include <span>

#include "forebay/result.hpp"

namespace forebay::insitu {

class ColourScale {
public:
    /// NaN as `low` or `high` means: find it. A found end is the smallest or largest finite value; with `log`, only
    /// values above 0 count. A range without width is widened around its value. If no value counts, the range is empty.
    /// `refused` if both ends are given but not in order, or not above 0 with `log`.
    /// With `is_around_zero`, for palettes whose middle means 0, a found end mirrors the other end: values from -1 to 3
    /// get the range -3 to 3. This does not apply to logarithms, or if a given end is on the wrong side of 0.
    static Result<ColourScale> over(std::span<const float> values, double low, double high, bool log,
                                    bool is_around_zero = false);

    /// The step of a value without colour.
    static constexpr std::uint8_t none = 255;
    /// Writes the step of each value: 0 to `steps` - 1, or `none`. `steps` is at most 255. Values beyond an end, also
    /// infinities, get the colour of that end.
    void steps_of(std::span<const float> values, int steps, std::span<std::uint8_t> to) const;
    /// The position of a value between the lower end, 0, and the upper end, 1.
    double share_of(double value) const;

    bool is_empty() const { return !(low_ < high_); }
    double low() const { return low_; }
    double high() const { return high_; }
    bool is_log() const { return log_; }

private:
    ColourScale(double low, double high, bool log);
    double low_, high_;
    bool log_;
    double begin_ = 0, per_unit_ = 0;
};

}  // namespace forebay::insitu
