#include "core/describe/condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/limits.hpp"
#include "core/base/show_text.hpp"

namespace forebay::describe {

namespace {

constexpr std::string_view comparison_signs = "<>=!", blanks = " \t";
constexpr std::array<std::pair<std::string_view, Comparison>, 6> comparisons{{{"<", Comparison::less},
                                                                              {"<=", Comparison::at_most},
                                                                              {">", Comparison::greater},
                                                                              {">=", Comparison::at_least},
                                                                              {"==", Comparison::equal},
                                                                              {"!=", Comparison::unequal}}};
constexpr int stars_of_condition_max = 4;  // as in a pattern of variables

// `place` is the byte in the text, from 0. The message counts from 1.
Error wrong_at(std::size_t place, const std::string& what) {
    return {ErrorKind::refused, fmt::format("at character {} {}, as in \"*/nan > 0\"", place + 1, what)};
}

std::size_t end_of(std::string_view text) { return text.find_last_not_of(blanks) + 1; }  // npos + 1 is 0

}  // namespace

bool Condition::holds(double value) const {
    switch (comparison) {
        case Comparison::less: return value < number;
        case Comparison::at_most: return value <= number;
        case Comparison::greater: return value > number;
        case Comparison::at_least: return value >= number;
        case Comparison::equal: return value == number;
        case Comparison::unequal: return value != number;
    }
    return false;
}

bool Condition::is_farther(double value, double other) const {
    switch (comparison) {
        case Comparison::less:
        case Comparison::at_most: return value < other;
        case Comparison::greater:
        case Comparison::at_least: return value > other;
        default: return false;
    }
}

// The last comparison in the text counts, because a name may contain such signs.
Result<Condition> parse_condition(std::string_view text) {
    const auto last = text.find_last_of(comparison_signs);
    if (last == text.npos) return wrong_at(end_of(text), "one of <, <=, >, >=, ==, != is expected");
    const auto before = text.find_last_not_of(comparison_signs, last);
    const auto begin = before == text.npos ? 0 : before + 1;
    const auto sign = text.substr(begin, last + 1 - begin);
    const auto* const known = std::ranges::find(comparisons, sign, &std::pair<std::string_view, Comparison>::first);
    if (known == comparisons.end())
        return wrong_at(begin, fmt::format("'{}' is not <, <=, >, >=, == or !=", show_text(sign)));
    const auto first = std::min(text.find_first_not_of(blanks), begin);
    const std::string pattern(text.substr(first, end_of(text.substr(first, begin - first))));
    if (pattern.empty()) return wrong_at(first, "a name of a result, or a pattern with *, is expected");
    if (pattern.size() > limits::name_bytes_max || !is_showable(pattern) ||
        std::ranges::count(pattern, '*') > stars_of_condition_max)
        return wrong_at(first, fmt::format("a name, or a pattern with at most {} '*', is expected, of {} bytes at most",
                                           stars_of_condition_max, limits::name_bytes_max));
    const auto at = std::min(text.find_first_not_of(blanks, last + 1), text.size());
    const auto digits = text.substr(at, end_of(text.substr(at)));
    double number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size())
        return wrong_at(
            at, digits.empty() ? "a number is expected" : fmt::format("'{}' is not a number", show_text(digits)));
    if (std::isnan(number)) return wrong_at(at, "nothing is equal to nan: use the count of nan instead");
    return Condition{pattern, known->second, number};
}

}  // namespace forebay::describe
