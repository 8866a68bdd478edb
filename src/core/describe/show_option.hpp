// The values of options as text, for people and for the comparison of ranks.

#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <type_traits>
#include <utility>

#include "core/describe/option_list.hpp"

namespace forebay::describe {

template <class Integer>
requires std::is_integral_v<Integer> std::string show(const Whole& range, Integer value) {
    return range.least_is_unset && std::cmp_equal(value, range.least) ? "none" : std::to_string(value);
}

/// Returns the fewest digits that read back as `value`.
std::string show(const Real&, double value);
std::string show(const Seconds&, std::chrono::milliseconds value);

template <class T>
std::string show(const Words<T>& words, T value) {
    const auto word = std::ranges::find(words.all, value, &Word<T>::value);
    // A program may pass a number outside the enumeration.
    return word != words.all.end() ? word->name : "number " + std::to_string(static_cast<long>(value));
}
template <class T>
std::string show(const Text<T>& text, const T& value) {
    return text.show(value);
}

}  // namespace forebay::describe
