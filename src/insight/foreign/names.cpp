#include "insight/foreign/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::foreign {

std::string KeptNames::keep(const std::string& name, bool chosen, bool differs) {
    if (chosen && taken_.insert(name).second) return name;
    if (!differs) {
        repeated_.push_back(name);
        return "";
    }
    for (int number = 2;; ++number) {
        auto other = fmt::format("{}~{}", name, number);
        // The file itself may use this name.
        if (!all_.insert(other).second) continue;
        others_.push_back(fmt::format("'{}' as '{}'", name, other));
        return other;
    }
}

void KeptNames::note_others(std::vector<std::string>& notes, const std::string& why) const {
    if (others_.empty()) return;
    notes.push_back(fmt::format(
        "names that occur twice with different data: {}, so it keeps the name. The other variable gets a new name: {}",
        why, list_names(others_)));
}

void KeptNames::note_repeated(std::vector<std::string>& notes) const {
    if (repeated_.empty()) return;
    notes.push_back(fmt::format("repeated names with the same bytes, kept once: {}", list_names(repeated_)));
}

std::string list_names(std::span<const std::string> names) {
    constexpr std::size_t shown = 8;
    std::string text;
    for (const auto& name : names.first(std::min(names.size(), shown))) text += (text.empty() ? "" : ", ") + name;
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

}  // namespace forebay::foreign
