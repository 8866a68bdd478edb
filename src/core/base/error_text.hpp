// What the texts of Forebay begin with and how their parts are called, in one place; and an Error's text where it comes
// back over a border that knows texts alone, as from a function of a C application.

#pragma once

#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay {

/// What begins every text and line of Forebay that stands among those of other programs.
inline constexpr const char* program_prefix = "forebay: ";
/// What begins the parts of a text behind the first.
inline constexpr const char* safe_label = "Safe: ";
inline constexpr const char* next_label = "Next: ";

/// A note that is no error, in the layout of Error::line().
std::string note_line(std::string what, std::string next);

/// Takes Error::text() apart again, so that what comes back from an application gets no second "forebay: ". A text of
/// the application's own is all `what`.
Error error_of_text(ErrorKind kind, std::string_view text);

}  // namespace forebay
