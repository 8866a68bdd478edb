// Text that others have chosen, for people to read: names from storage, from files and from the network could command
// the terminal or say something in our place. Such characters are spelled out as \xNN, byte by byte: control
// characters, those of UTF-8 (U+0080 to U+009F) too, overrides and marks of the writing direction, line separators of
// Unicode, and bytes that are no UTF-8.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay {

/// A name, a path, a unit: all of it on one line.
std::string show_text(std::string_view text);
/// A message of ours that holds names. A line that begins with two spaces, as "\n  Next: ..." does, stays a line; a
/// name can begin none at the margin.
std::string show_message(std::string_view text);

/// Whether show_text() leaves it as it is.
bool is_showable(std::string_view text);

/// The character that begins `text`: its bytes, 0 for what is no UTF-8 (RFC 3629), and its number in Unicode.
struct Character {
    std::size_t bytes = 0;
    std::uint32_t number = 0;
};
Character first_character(std::string_view text);
bool is_utf8(std::string_view text);
/// Whether a character of that number is spelled out.
bool commands_terminals(std::uint32_t number);

}  // namespace forebay
