// Reads lists of storage targets: numbers and ranges as for `lfs setstripe -o` ("0-13,15"), or names as from `lfs
// osts`, reports and preflight ("OST000e", "scratch-OST000e_UUID"). Commas, blanks and line ends separate them, and "#"
// begins a comment.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::describe {

/// The limit of Lustre. A larger number is a mistake.
inline constexpr std::uint32_t storage_targets_max = 65534;

/// Returns the targets in the order of the text, each once. `where` goes into the error: "agent.storage_targets".
Result<std::vector<std::uint32_t>> parse_storage_targets(std::string_view text, const std::string& where);

/// Returns "OST000e" for 14.
std::string storage_target_name(std::uint32_t number);

}  // namespace forebay::describe
