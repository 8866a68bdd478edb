// The name of the file that makes a directory a run: RUN/forebay/run-00f30000c0ffee9a.json. See catalog/run.hpp.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forebay::format {

/// The name of Forebay's directory in a run. No stream may have this name.
inline constexpr const char* own_directory = "forebay";

/// Returns "run-00f30000c0ffee9a.json", the file's name in that directory.
std::string name_of_identity(std::uint64_t id);
/// Returns nothing if `name` is not such a name.
std::optional<std::uint64_t> identity_in(std::string_view name);

}  // namespace forebay::format
