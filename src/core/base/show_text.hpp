// Text from other users, made safe to print: names from storage, from files and from the network could command the
// terminal or imitate our messages. Dangerous characters are spelled out as \xNN, byte by byte: control characters,
// also the Unicode range U+0080 to U+009F, overrides and marks of the writing direction, line separators of Unicode,
// and bytes that are no UTF-8.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay {

/// A name, a path, a unit: all of it on one line.
std::string show_text(std::string_view text);
/// A message of ours that contains names. A line that begins with two spaces, such as "\n  Next: ...", stays a line. A
/// name cannot begin a line at the margin.
std::string show_message(std::string_view text);

/// True if show_text() would leave it unchanged.
bool is_showable(std::string_view text);

/// The first character of `text`: its bytes, 0 if it is no UTF-8 (RFC 3629), and its number in Unicode.
struct Character {
    std::size_t bytes = 0;
    std::uint32_t number = 0;
};
Character first_character(std::string_view text);
bool is_utf8(std::string_view text);
/// True if a character with this number is spelled out.
bool commands_terminals(std::uint32_t number);

}  // namespace forebay
