// Patterns of names, as people write them in settings and on the command line.

#pragma once

#include <string_view>

namespace forebay {

/// Special characters of a pattern: `*` matches any text, also `/`; `?` matches any byte.
enum class Wild { star, star_and_question };

/// True if the pattern matches all of `text`. Takes at most as many steps as both lengths multiplied.
bool matches(std::string_view pattern, std::string_view text, Wild wild = Wild::star);

}  // namespace forebay
