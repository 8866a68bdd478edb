// A condition over the results of an analysis, as people write it: "*/nan > 0", "gas/mass > 1e15", "theta/max >= 400".
// A pattern of names of results, a comparison, a number. It is fulfilled if any element of any result of that name is.

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

    /// Not a number fulfils `!=` alone.
    bool holds(double value) const;
    /// Whether `value`, which fulfils it, says more than `other`, which does too: it is farther beyond the number.
    bool is_farther(double value, double other) const;
};

/// `refused`, with the place in the text and an example, for what is none.
Result<Condition> parse_condition(std::string_view text);

}  // namespace forebay::describe
