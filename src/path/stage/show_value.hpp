// Values as texts of errors show them.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "forebay/describe.hpp"

namespace forebay::stage {

/// One element, for people: "0.5", "(1, -2)", "'abc'". What is no printable ASCII in a string is a '?': nobody has
/// checked that it is UTF-8, and the text may end at a terminal.
std::string show_value(Type type, std::span<const std::byte> bytes);

/// Two elements that differ; with their bytes where that is all that tells them apart, as of two NaNs.
std::pair<std::string, std::string> show_values(Type type, std::span<const std::byte> bytes,
                                                std::span<const std::byte> other);

}  // namespace forebay::stage
