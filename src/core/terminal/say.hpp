// Output of the verbs for people. Each text in a line counts as a name: it stays on that line and commands no terminal
// (base/show_text.hpp). Only a Message of ours may have several lines. In this module, only json.cpp, log.cpp and
// progress.cpp write to the terminal too.

#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/show_text.hpp"
#include "core/terminal/print.hpp"

namespace forebay::cli {

/// A text of ours with names in it, maybe of several lines, such as the text of an Error.
struct Message {
    std::string_view text;
};

template <class T>
auto as_shown(const T& value) {
    if constexpr (std::is_same_v<T, Message>) return show_message(value.text);
    else if constexpr (std::is_same_v<T, Shown>) return value.text;
    else if constexpr (std::is_convertible_v<const T&, std::string_view>) return show_text(value);
    else return value;
}
template <class T>
using ShownAs = decltype(as_shown(std::declval<const T&>()));

/// fmt::format(), with every text made safe.
template <class... T>
Shown lines(fmt::format_string<ShownAs<T>...> format, const T&... values) {
    return {fmt::format(format, as_shown(values)...)};
}

/// The same to standard output.
template <class... T>
void say(fmt::format_string<ShownAs<T>...> format, const T&... values) {
    say(lines<T...>(format, values...));
}

}  // namespace forebay::cli
