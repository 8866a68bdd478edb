// Values in error texts.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "forebay/describe.hpp"

namespace forebay::stage {

/// One element, for people: "0.5", "(1, -2)", "'abc'". In a string, '?' replaces each byte that is not printable ASCII:
/// nobody has checked for UTF-8, and the text may end at a terminal.
std::string show_value(Type type, std::span<const std::byte> bytes);

/// Two elements that differ. If their texts are equal, as for two NaNs, their bytes are added.
std::pair<std::string, std::string> show_values(Type type, std::span<const std::byte> bytes,
                                                std::span<const std::byte> other);

}  // namespace forebay::stage
