// How tests say that all nodes of a snapshot have one shared file.

#pragma once

#include <cstdint>

namespace forebay::test {

/// In place of a number of nodes per file.
inline constexpr std::uint32_t all_in_one = 0;

}  // namespace forebay::test
