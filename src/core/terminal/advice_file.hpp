// Files that other verbs have written and an option names: "-" is standard input, so that they come from a pipe too.

#pragma once

#include <cstdint>
#include <string>

#include "forebay/result.hpp"
#include "core/format/advice.hpp"

namespace forebay::cli {

/// All of the file, or of standard input, of at most `bytes_max`. `option` and `next` stand in the error.
Result<std::string> input_text(const std::string& option, const std::string& path, std::uint64_t bytes_max,
                               const std::string& next);

/// How a person is told which file that is.
std::string input_name(const std::string& path);

/// Advice of this kind, "preflight".
Result<format::Advice> read_advice(const std::string& option, const std::string& path, const std::string& kind);

}  // namespace forebay::cli
