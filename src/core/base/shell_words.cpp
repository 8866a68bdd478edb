#include "core/base/shell_words.hpp"

#include <string_view>

namespace forebay {

std::string quoted(const std::string& text) {
    std::string all = "'";
    for (const char c : text) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return all + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
    std::string all;
    for (const auto& word : words) {
        const bool is_plain = !word.empty() && word.find_first_not_of(plain) == word.npos;
        all += (all.empty() ? "" : " ") + (is_plain ? word : quoted(word));
    }
    return all;
}

}  // namespace forebay
