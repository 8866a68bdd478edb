// Files that other verbs wrote, given by an option. "-" is standard input, so they can come from a pipe.

#pragma once

#include <cstdint>
#include <string>

#include "core/format/advice.hpp"
#include "forebay/result.hpp"

namespace forebay::cli {

/// All of the file, or of standard input, at most `bytes_max`. Errors contain `option` and `next`.
Result<std::string> input_text(const std::string& option, const std::string& path, std::uint64_t bytes_max,
                               const std::string& next);

/// The text of a file with a list of words, for options of hosts and targets.
Result<std::string> file_text(const std::string& option, const std::string& path);

/// The text of an option with a list: "@FILE" stands for the words of a file.
Result<std::string> list_text(const std::string& option, const std::string& text);

/// The file's name for people.
std::string input_name(const std::string& path);

/// Reads advice of this kind, such as "preflight".
Result<format::Advice> read_advice(const std::string& option, const std::string& path, const std::string& kind);

}  // namespace forebay::cli
