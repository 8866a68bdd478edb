// From values to colours: a range, linear or by the logarithm, in steps of equal width.

#pragma once

#include <cstdint>
#include <span>

#include "forebay/result.hpp"

namespace forebay::insitu {

class ColourScale {
public:
    /// What stands in a range that is found: the smallest and the largest of the values that are finite, and above 0
    /// where `log` is set. NaN as `low` or `high`: found. A range without width is widened around its value, and one of
    /// which nothing is found is empty. `refused` where both ends are given and not in order, or not above 0 for `log`.
    /// With `is_around_zero`, for palettes whose middle means 0, an end that is found mirrors the other one: values
    /// from -1 to 3 get the range -3 to 3. Colours by the logarithm, and a given end on the wrong side of 0, have no
    /// such middle.
    static Result<ColourScale> over(std::span<const float> values, double low, double high, bool log,
                                    bool is_around_zero = false);

    /// What has no colour.
    static constexpr std::uint8_t none = 255;
    /// Of each value: 0 to `steps` - 1, of at most 255 steps, or `none`. What lies beyond an end, infinities too, has
    /// the colour of that end.
    void steps_of(std::span<const float> values, int steps, std::span<std::uint8_t> to) const;
    /// Where a value stands, 0 at the lower end to 1.
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
