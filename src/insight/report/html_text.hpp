// Makes foreign texts safe in pages: as text, and as data of scripts.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forebay::report {

/// A name for pages, not yet escaped. Control characters and direction marks are spelled out. Names over
/// `characters_max` are cut.
std::string name_in_page(std::string_view name, std::size_t characters_max = 48);

/// Escapes text between tags or in attributes with double quotes.
std::string html_escaped(std::string_view text);

/// Escapes JSON for <script type="application/json">: no "<" is left.
std::string json_in_page(std::string json);

}  // namespace forebay::report
