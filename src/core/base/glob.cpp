#include "core/base/glob.hpp"

namespace forebay {

// A text that fails after a star is tried again with one more byte for that star. Only the last star has to be tried:
// it can take all bytes that an earlier star could take.
bool matches(std::string_view pattern, std::string_view text, Wild wild) {
    const auto fits = [&](char sign, char byte) {
        return sign == byte || (sign == '?' && wild == Wild::star_and_question);
    };
    std::size_t p = 0, t = 0, star = pattern.npos, resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && fits(pattern[p], text[t])) {
            ++p;
            ++t;
        } else if (star != pattern.npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace forebay
