// Patterns of names, as people write them in settings and on the command line.

#pragma once

#include <string_view>

namespace forebay {

/// Characters of a pattern that stand for something else: `*` for any text, `/` too; `?` for any byte.
enum class Wild { star, star_and_question };

/// Whether the pattern is for all of `text`. Takes at most as many steps as both lengths multiplied.
bool matches(std::string_view pattern, std::string_view text, Wild wild = Wild::star);

}  // namespace forebay
