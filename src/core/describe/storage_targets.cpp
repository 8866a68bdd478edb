#include "core/describe/storage_targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"

namespace forebay::describe {

namespace {

std::optional<std::uint32_t> number_of(std::string_view text, int base) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc() || end != text.data() + text.size() || number > storage_targets_max) return {};
    return number;
}

// Reads "scratch-OST000e_UUID": Lustre writes four hexadecimal digits.
std::optional<std::uint32_t> number_of_name(std::string_view word) {
    constexpr std::string_view mark = "OST";
    // The name of a file system may contain "OST" too, so the last place counts.
    const auto at = word.rfind(mark);
    if (at == word.npos || (at > 0 && word[at - 1] != '-')) return {};
    word.remove_prefix(at + mark.size());
    word = word.substr(0, word.find('_'));
    if (word.size() != 4) return {};
    return number_of(word, 16);
}

struct TargetRange {
    std::uint32_t first = 0, last = 0;
};

std::optional<TargetRange> range_of(std::string_view word) {
    if (const auto named = number_of_name(word)) return TargetRange{*named, *named};
    const auto dash = word.find('-');
    const auto first = number_of(word.substr(0, dash), 10);
    const auto last = dash == word.npos ? first : number_of(word.substr(dash + 1), 10);
    if (!first || !last || *last < *first) return {};
    return TargetRange{*first, *last};
}

}  // namespace

Result<std::vector<std::uint32_t>> parse_storage_targets(std::string_view text, const std::string& where) {
    std::vector<std::uint32_t> targets;
    constexpr std::string_view parting = ", \t\r\n";
    while (!text.empty()) {
        if (text.front() == '#') {
            text.remove_prefix(std::min(text.find('\n'), text.size()));
            continue;
        }
        if (parting.find(text.front()) != parting.npos) {
            text.remove_prefix(1);
            continue;
        }
        const auto word = text.substr(0, text.find_first_of(", \t\r\n#"));
        const auto range = range_of(word);
        if (!range)
            return Error{
                ErrorKind::refused,
                fmt::format("{} contains {}, which is not a storage target", where, show_text(word)), "",
                word.find('/') == word.npos
                    ? "give numbers and ranges as in 0-13,15, or names as in OST000e"
                    : "give only OSTs, as in 0-13,15 or OST000e. A preflight with --targets lists directories"};
        for (auto number = range->first; number <= range->last; ++number)
            if (std::ranges::find(targets, number) == targets.end()) targets.push_back(number);
        text.remove_prefix(word.size());
    }
    return targets;
}

std::string storage_target_name(std::uint32_t number) { return fmt::format("OST{:04x}", number); }

}  // namespace forebay::describe
