// How tests request one shared file for all nodes of a snapshot.

#pragma once

#include <cstdint>

namespace forebay::test {

/// Stands in place of the number of nodes per file.
inline constexpr std::uint32_t all_in_one = 0;

}  // namespace forebay::test
