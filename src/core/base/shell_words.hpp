// Quoting for shells: for logs and dry runs that people copy, and for scripts.

#pragma once

#include <string>
#include <vector>

namespace forebay {

/// In single quotes, inside which only a quote is special to a shell.
std::string quoted(const std::string& text);

/// The words separated by spaces, each quoted if a shell would change it.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace forebay
