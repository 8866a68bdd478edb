// The name that makes a directory a run: RUN/forebay/run-00f30000c0ffee9a.json. catalog/run.hpp says what it is for.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forebay::format {

/// In a run's directory; no stream may have this name.
inline constexpr const char* own_directory = "forebay";

/// "run-00f30000c0ffee9a.json", in that directory.
std::string name_of_identity(std::uint64_t id);
/// Nothing where `name` is none.
std::optional<std::uint64_t> identity_in(std::string_view name);

}  // namespace forebay::format
