// Finds the known word that an unknown word was meant to be.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace forebay {

/// The longest common part of two words, as a share of both: 1 for equal words. "transfer" is nearer to "xfer" (3 of 6
/// letters, the mean of both) than to "ranks" (3 of 6.5).
inline double likeness(std::string_view word, std::string_view other) {
    std::vector<std::size_t> ends(other.size() + 1, 0);  // length of the common part that ends there
    std::size_t longest = 0;
    for (const char letter : word)
        for (auto i = other.size(); i > 0; --i) {
            ends[i] = letter == other[i - 1] ? ends[i - 1] + 1 : 0;
            longest = std::max(longest, ends[i]);
        }
    return longest == 0 ? 0 : 2 * static_cast<double>(longest) / static_cast<double>(word.size() + other.size());
}

/// Empty if no word is near.
inline std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
    constexpr double near = 0.4;
    std::string nearest;
    double best = near;
    for (const auto& candidate : known)
        if (const double like = likeness(word.substr(0, 64), candidate);
            like >= best && (nearest.empty() || like > best))
            best = like, nearest = candidate;
    return nearest;
}

}  // namespace forebay
