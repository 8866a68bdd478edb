// Files that other verbs have written and an option names: "-" is standard input, so that they come from a pipe too.

#pragma once

#include <cstdint>
#include <string>

#include "core/format/advice.hpp"
#include "forebay/result.hpp"

namespace forebay::cli {

/// All of the file, or of standard input, of at most `bytes_max`. `option` and `next` stand in the error.
Result<std::string> input_text(const std::string& option, const std::string& path, std::uint64_t bytes_max,
                               const std::string& next);

/// The text of a file that is a list of words, as options of hosts and targets take it.
Result<std::string> file_text(const std::string& option, const std::string& path);

/// The text of an option that is a list: "@FILE" stands for the words of a file.
Result<std::string> list_text(const std::string& option, const std::string& text);

/// How a person is told which file that is.
std::string input_name(const std::string& path);

/// Advice of this kind, "preflight".
Result<format::Advice> read_advice(const std::string& option, const std::string& path, const std::string& kind);

}  // namespace forebay::cli
