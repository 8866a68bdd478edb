// Words as a shell reads them: what people copy from a log or a dry run, and what scripts have.

#pragma once

#include <string>
#include <vector>

namespace forebay::migrate {

/// In single quotes, in which a shell reads nothing but the quote.
std::string quoted(const std::string& text);

/// With a space between each two, and in quotes where a shell would read more than the word.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace forebay::migrate
