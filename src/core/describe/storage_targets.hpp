// Which storage targets a text names: numbers and ranges as `lfs setstripe -o` takes them ("0-13,15"), and names as
// `lfs osts`, reports and preflight write them ("OST000e", "scratch-OST000e_UUID"). Commas, blanks and line ends part
// them; "#" begins a remark.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::describe {

/// Lustre has at most so many; a number beyond is a mistake.
inline constexpr std::uint32_t storage_targets_max = 65534;

/// In the order of the text, each once. `where` stands in the error: "agent.storage_targets".
Result<std::vector<std::uint32_t>> parse_storage_targets(std::string_view text, const std::string& where);

/// "OST000e" of 14.
std::string storage_target_name(std::uint32_t number);

}  // namespace forebay::describe
