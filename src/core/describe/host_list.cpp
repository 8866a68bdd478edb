#include "core/describe/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>

#include "core/base/show_text.hpp"

namespace forebay::describe {

namespace {

constexpr std::size_t hosts_max = 100'000;
constexpr std::size_t digits_max = 15;

Error no_list(std::string_view list, const char* why) {
    return {ErrorKind::refused,
            fmt::format("\"{}\" is not a valid list of hosts: {}", show_text(list.substr(0, 80)), why), "",
            "give a list such as nid00[123,977],login1"};
}

bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= digits_max &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The number of at most 15 digits. 0 for no digits.
std::uint64_t host_number(std::string_view digits) {
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

// Expands "PREFIX[1-4,7]SUFFIX" with at most one pair of brackets.
Result<> expand(std::string_view name, std::vector<std::string>& hosts) {
    // ssh would take such a name for an option and run its command.
    if (name.starts_with('-')) return no_list(name, "a host name must not begin with -");
    if (name.find('=') != name.npos)
        return no_list(name, "a host name must not contain =, as slots=4 in a list for mpiexec");
    const auto open = name.find('['), close = name.find(']');
    if (open == name.npos && close == name.npos) {
        hosts.emplace_back(name);
        return {};
    }
    if (open == name.npos || close == name.npos || close < open || name.find('[', open + 1) != name.npos)
        return no_list(name, "check its brackets");
    auto parts = name.substr(open + 1, close - open - 1);
    // The width of the first number of a range is kept: 0001-0004.
    while (true) {
        const auto part = parts.substr(0, parts.find(','));
        const auto dash = part.find('-');
        const auto first = part.substr(0, dash), last = dash == part.npos ? first : part.substr(dash + 1);
        if (!is_number(first) || !is_number(last)) return no_list(name, "check the numbers in its brackets");
        const auto from = host_number(first), to = host_number(last);
        // Checked before the names are made: a long range would take all memory.
        if (to < from || to - from >= hosts_max - std::min(hosts_max, hosts.size()))
            return no_list(name, "it has too many hosts, or a falling range");
        for (auto i = from; i <= to; ++i)
            hosts.push_back(fmt::format("{}{:0{}}{}", name.substr(0, open), i, first.size(), name.substr(close + 1)));
        if (part.size() == parts.size()) return {};
        parts.remove_prefix(part.size() + 1);
    }
}

// A name, split at its last run of digits.
struct Parted {
    std::string before, digits, after;
};
Parted parted(const std::string& name) {
    const auto end = name.find_last_of("0123456789");
    if (end == name.npos) return {name, "", ""};
    auto begin = end;
    // At most 15 digits, so that the number fits 64 bits.
    while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9' && end - begin + 1 < digits_max) --begin;
    return {name.substr(0, begin), name.substr(begin, end - begin + 1), name.substr(end + 1)};
}

}  // namespace

Result<std::vector<std::string>> hosts_of(std::string_view list) {
    std::vector<std::string> hosts;
    bool inside = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        // A comment and the end of the list end a name, like the end of a line.
        const char c = i < list.size() && list[i] != '#' ? list[i] : '\n';
        if (c == '[') inside = true;
        if (c == ']') inside = false;
        const bool parts = c == ' ' || c == '\n' || c == '\t' || c == '\r' || (c == ',' && !inside);
        if (!parts) continue;
        if (inside) return no_list(list, "check its brackets");
        if (i > begin)
            if (const auto expanded = expand(list.substr(begin, i - begin), hosts); !expanded) return expanded.error();
        if (i < list.size() && list[i] == '#') i = std::min(list.find('\n', i), list.size());
        begin = i + 1;
        if (hosts.size() > hosts_max) return no_list(list, "it has too many hosts");
    }
    return hosts;
}

std::string show_numbers(const std::vector<std::uint64_t>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        auto end = i + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
        text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
        if (end - i > 1) text += fmt::format("-{}", numbers[end - 1]);
        i = end;
    }
    return text;
}

std::string show_hosts(std::vector<std::string> hosts) {
    std::ranges::sort(hosts);
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    // Grouped by the text around the number and its width: "nid", 5 digits, "".
    std::map<std::tuple<std::string, std::size_t, std::string>, std::vector<std::uint64_t>> groups;
    for (const auto& host : hosts) {
        const auto [before, digits, after] = parted(host);
        groups[{before, digits.size(), after}].push_back(host_number(digits));
    }
    std::string text;
    for (auto& [around, numbers] : groups) {
        const auto& [before, width, after] = around;
        std::ranges::sort(numbers);
        if (!text.empty()) text += ",";
        if (width == 0 || numbers.size() == 1) {
            text += width == 0 ? before : fmt::format("{}{:0{}}{}", before, numbers.front(), width, after);
            continue;
        }
        // The digits that all numbers begin with go before the bracket: nid00[123,977].
        auto common = width - 1;
        const auto first = fmt::format("{:0{}}", numbers.front(), width);
        for (const auto number : numbers) {
            const auto digits = fmt::format("{:0{}}", number, width);
            common = std::min<std::size_t>(
                common, static_cast<std::size_t>(std::ranges::mismatch(digits, first).in1 - digits.begin()));
        }
        std::string inside;
        for (std::size_t i = 0; i < numbers.size();) {
            auto end = i + 1;
            while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
            const auto tail = [&, digits_wide = width](std::uint64_t number) {
                return fmt::format("{:0{}}", number, digits_wide).substr(common);
            };
            inside += fmt::format("{}{}", inside.empty() ? "" : ",", tail(numbers[i]));
            if (end - i > 1) inside += "-" + tail(numbers[end - 1]);
            i = end;
        }
        text += fmt::format("{}{}[{}]{}", before, first.substr(0, common), inside, after);
    }
    return text;
}

}  // namespace forebay::describe
