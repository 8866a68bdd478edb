// Texts of others in pages: as text, and as data of scripts.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace forebay::report {

/// A name as pages show it: what commands terminals or turns the direction of writing is spelled out, and what has more
/// than `characters_max` is cut. Not yet escaped.
std::string name_in_page(std::string_view name, std::size_t characters_max = 48);

/// Of text between tags and in attributes within double quotes.
std::string html_escaped(std::string_view text);

/// JSON as it may stand in <script type="application/json">: no "<" is left in it.
std::string json_in_page(std::string json);

}  // namespace forebay::report
