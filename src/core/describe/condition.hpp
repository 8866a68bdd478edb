// A condition over the results of an analysis: "*/nan > 0", "gas/mass > 1e15", "theta/max >= 400". It has a pattern of
// result names, a comparison and a number. It is fulfilled if any element of a matching result fulfils the comparison.

#pragma once

#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay::describe {

enum class Comparison { less, at_most, greater, at_least, equal, unequal };

struct Condition {
    std::string pattern;  // of names, with `*`
    Comparison comparison = Comparison::greater;
    double number = 0;

    /// NaN fulfils only `!=`.
    bool holds(double value) const;
    /// Both values fulfil the condition. Returns true if `value` is farther beyond the number than `other`.
    bool is_farther(double value, double other) const;
};

/// `refused` for an invalid text, with the place of the mistake and an example.
Result<Condition> parse_condition(std::string_view text);

}  // namespace forebay::describe
