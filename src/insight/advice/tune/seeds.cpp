#include "insight/advice/tune/seeds.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace forebay::advice {

namespace {

// VPIC's scan of 156 targets ended at 144; more objects a file cost more than they gain.
constexpr std::uint64_t stripes_max = 144;
constexpr std::uint64_t mib = 1u << 20;

std::optional<double> number_of(const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return number;
}

std::string show(std::uint64_t number) { return std::to_string(number); }

}  // namespace

std::vector<Rule> rules_of(const Site& site) {
    // A file of all nodes uses all targets. If each node has its own file, a few targets each are enough.
    const auto wide = show(std::min(std::max<std::uint64_t>(site.targets, 1), stripes_max));
    const auto narrow = show(std::clamp<std::uint64_t>(site.targets / std::max<std::uint64_t>(site.nodes, 1), 1, 4));
    const auto group = show(std::max<std::uint64_t>(2, static_cast<std::uint64_t>(std::sqrt(site.nodes))));
    const auto rule = [](const std::string& file, const std::string& stripes, std::uint64_t stripe_mib,
                         std::uint64_t block_mib, int in_flight, Rule more = {}) {
        Rule all{{"stream.file", file},
                 {"stripe_count", stripes},
                 {"stripe_bytes", show(stripe_mib * mib)},
                 {"agent.block_bytes", show(block_mib * mib)},
                 {"agent.in_flight", show(static_cast<std::uint64_t>(in_flight))}};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    return {rule("own", narrow, 16, 16, 8),
            rule("own", narrow, 64, 64, 8),
            rule("shared", wide, 64, 64, 8),
            rule("shared", wide, 16, 16, 8),
            rule("own", "1", 1, 4, 16),
            rule("combined:" + group, wide, 16, 64, 8),
            rule("own", narrow, 16, 64, 2),
            rule("own", narrow, 16, 16, 8, {{"virtual_nodes", "2"}, {"copy_threads", "2"}}),
            rule("own", narrow, 16, 16, 8, {{"agent.direct", "false"}}),
            rule("own", narrow, 16, 16, 16, {{"stream.slots", "2"}, {"huge_pages", "false"}}),
            rule("own", wide, 4, 64, 16)};
}

Choice choice_of(const std::vector<Knob>& knobs, const Rule& rule) {
    Choice choice;
    for (const auto& knob : knobs) {
        auto& value = choice.emplace_back(knob.by_default);
        const auto wanted = std::ranges::find(rule, knob.name, &Rule::value_type::first);
        if (wanted == rule.end()) continue;
        const auto same = std::ranges::find(knob.values, wanted->second);
        if (same != knob.values.end()) {
            value = static_cast<std::size_t>(same - knob.values.begin());
            continue;
        }
        // Compares numbers, also after a word: "combined:3".
        const auto apart = [&](const std::string& text) -> std::optional<double> {
            const auto colon = wanted->second.find(':');
            const auto word = colon == std::string::npos ? 0 : colon + 1;
            if (text.substr(0, word) != wanted->second.substr(0, word)) return {};
            const auto first = number_of(text.substr(word)), other = number_of(wanted->second.substr(word));
            if (!first || !other || *first <= 0 || *other <= 0) return {};
            return std::abs(std::log2(*first / *other));
        };
        std::optional<double> least;
        for (std::size_t i = 0; i < knob.values.size(); ++i)
            if (const auto distance = apart(knob.values[i]); distance && (!least || *distance < *least)) {
                least = distance;
                value = i;
            }
    }
    return choice;
}

std::vector<Choice> seeds_of(const std::vector<Knob>& knobs, const Site& site) {
    std::vector<Choice> seeds;
    Choice defaults;
    for (const auto& knob : knobs) defaults.push_back(knob.by_default);
    for (const auto& rule : rules_of(site))
        if (auto choice = choice_of(knobs, rule); choice != defaults && std::ranges::find(seeds, choice) == seeds.end())
            seeds.push_back(std::move(choice));
    return seeds;
}

}  // namespace forebay::advice
