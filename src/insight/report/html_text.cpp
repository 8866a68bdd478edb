#include "insight/report/html_text.hpp"

#include <algorithm>

#include "core/base/show_text.hpp"

namespace forebay::report {

std::string name_in_page(std::string_view name, std::size_t characters_max) {
    const auto shown = show_text(name);
    std::size_t at = 0;
    for (std::size_t characters = 0; at < shown.size() && characters < characters_max; ++characters)
        at += std::max<std::size_t>(first_character(std::string_view(shown).substr(at)).bytes, 1);
    return at < shown.size() ? shown.substr(0, at) + "..." : shown;
}

std::string html_escaped(std::string_view text) {
    std::string escaped;
    for (const char letter : text) {
        if (letter == '&') escaped += "&amp;";
        else if (letter == '<') escaped += "&lt;";
        else if (letter == '>') escaped += "&gt;";
        else if (letter == '"') escaped += "&quot;";
        else if (letter == '\'') escaped += "&#39;";
        else escaped += letter;
    }
    return escaped;
}

std::string json_in_page(std::string json) {
    // Without "<" no text can end the script element.
    for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at + 1)) json.replace(at, 1, "\\u003c");
    return json;
}

}  // namespace forebay::report
