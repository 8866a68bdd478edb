// The prefix of Forebay's texts and the labels of their parts, in one place. Also makes an Error from a text that comes
// back over a border without Errors, such as a function of a C application.

#pragma once

#include <string>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay {

/// Begins every text and line of Forebay among the output of other programs.
inline constexpr const char* program_prefix = "forebay: ";
/// Begins the parts of a text behind the first.
inline constexpr const char* safe_label = "Safe: ";
inline constexpr const char* next_label = "Next: ";

/// A note that is no error, in the layout of Error::line().
std::string note_line(std::string what, std::string next);

/// Takes Error::text() apart again, so that a text from an application gets no second "forebay: ". An application's own
/// text becomes `what`.
Error error_of_text(ErrorKind kind, std::string_view text);

}  // namespace forebay
