#include "program/plan/plan_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest_word.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/terminal/sizes.hpp"

namespace forebay::cli {

namespace {

constexpr double shown_bytes_max = 1.8e19;  // 64 bits

using advice::Unit;
using format::Measure;

Measure given_input(const std::string& name, double value, const std::string& named) {
    return {.name = name, .value = value, .samples = 1, .origin = format::MeasureOrigin::given, .from = named};
}

// "0.3", "30%"
Result<double> share_from(const std::string& named, std::string text) {
    const bool is_percent = text.ends_with('%');
    if (is_percent) text.pop_back();
    FB_TRY_ASSIGN(share, number_from(named, text));
    return is_percent ? share / 100 : share;
}

Result<double> plan_value_from(Unit unit, const std::string& text, const std::string& named) {
    switch (unit) {
        case Unit::bytes:
        case Unit::rate: {
            FB_TRY_ASSIGN(bytes, bytes_from(named, text));
            return static_cast<double>(bytes);
        }
        case Unit::seconds: return seconds_from(named, text);
        case Unit::policy:
            if (text == "wait") return 0.0;
            if (text == "supersede" || text == "newest_only") return 1.0;  // the word of the configuration
            return Error{ErrorKind::refused, fmt::format("{} {}: write wait or supersede", named, text), "",
                         fmt::format("{} wait, or {} newest_only as the configuration calls it", named, named)};
        case Unit::share: return share_from(named, text);
        case Unit::number: break;
    }
    return number_from(named, text);
}

std::string nearest_key(const std::string& key) {
    std::vector<std::string> keys(std::begin(plan_pairs), std::end(plan_pairs));
    for (const auto& kind : advice::input_kinds())
        if (kind.key[0] != '\0') keys.emplace_back(kind.key);
    return nearest_word(key, keys);
}

// "0.01:0.3"
Result<std::vector<Measure>> plan_pair_from(const std::string& key, const std::string& text, const std::string& named) {
    const auto colon = text.find(':');
    if (colon == std::string::npos)
        return Error{ErrorKind::refused, fmt::format("{} {}: write SHARE:RATIO", named, text), "",
                     fmt::format("{} 0.01:0.3, if one of a hundred runs at 0.3 of the normal rate", named)};
    const auto of = key.substr(0, key.size() - 1);  // "slow_node"
    FB_TRY_ASSIGN(share, share_from(named, text.substr(0, colon)));
    FB_TRY_ASSIGN(ratio, share_from(named, text.substr(colon + 1)));
    return std::vector{given_input(of + "_share", share, named), given_input(of + "_ratio", ratio, named)};
}

}  // namespace

Result<std::vector<Measure>> plan_input_from(const std::string& key, const std::string& text,
                                             const std::string& named) {
    if (std::ranges::find(plan_pairs, key) != std::end(plan_pairs)) return plan_pair_from(key, text, named);
    const auto* kind = advice::input_of_key(key);
    if (kind == nullptr) {
        const auto near = nearest_key(key);
        return Error{ErrorKind::refused, fmt::format("{} is not an input of a plan", named), "",
                     near.empty() ? "--help" : fmt::format("--what-if {}={}", near, text)};
    }
    const auto colon = kind->cv != nullptr ? text.find(':') : std::string::npos;
    FB_TRY_ASSIGN(value, plan_value_from(kind->unit, text.substr(0, colon), named));
    auto measure = given_input(kind->name, value, named);
    if (colon != std::string::npos) {
        FB_TRY_ASSIGN(cv, number_from(named, text.substr(colon + 1)));
        if (!(cv >= 0 && cv <= advice::cv_max))
            return Error{ErrorKind::refused, fmt::format("{} {}: a cv must be 0 to {}", named, text, advice::cv_max)};
        measure.cv = cv;
    }
    if (value < kind->least)
        return Error{ErrorKind::refused, fmt::format("{} {}: the least value is {}", named, text, kind->least)};
    if (kind->key == std::string_view("slots") && value != 0 && value != 1 && value != 2)
        return Error{ErrorKind::refused, fmt::format("{} {}: a stream has 0, 1 or 2 slots", named, text), "",
                     fmt::format("{} 1 or 2; 0 without staging", named)};
    return std::vector{measure};
}

Result<advice::WhatIf> what_if_from(const std::string& text) {
    const auto equal = text.find('=');
    advice::WhatIf what_if{.key = text.substr(0, equal), .values = {}};
    std::ranges::replace(what_if.key, '-', '_');  // as options are spelled
    if (equal == std::string::npos || equal + 1 == text.size())
        return Error{ErrorKind::refused, fmt::format("--what-if {}: write KEY=VALUE[,VALUE...]", text), "",
                     "--what-if mtbf=3h,6h"};
    for (auto rest = text.substr(equal + 1); !rest.empty();) {
        const auto comma = rest.find(',');
        const auto word = rest.substr(0, comma);
        FB_TRY_ASSIGN(measures, plan_input_from(what_if.key, word, "--what-if " + what_if.key));
        what_if.values.push_back({word, std::move(measures)});
        rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
    return what_if;
}

std::string show_long(double seconds) {
    constexpr double minute = 60, hour = 60 * minute, day = 24 * hour, year = 365.25 * day;
    if (seconds < 10 * minute) return show_seconds(seconds);
    if (seconds < 2 * hour) return fmt::format("{:.0f} s", seconds);  // minutes would hide differences of a few percent
    if (seconds < 10 * day) return fmt::format("{:.1f} h", seconds / hour);
    if (seconds < 2 * year) return fmt::format("{:.1f} d", seconds / day);
    return fmt::format("{:.1f} years", seconds / year);
}

std::string show_plan_value(Unit unit, double value) {
    switch (unit) {
        case Unit::bytes: return show_bytes(static_cast<std::uint64_t>(std::min(value, shown_bytes_max)));
        case Unit::rate: return value > 0 ? show_rate(value) : "none";
        case Unit::seconds: return value > 0 ? show_long(value) : "none";
        case Unit::policy: return value > 0 ? "supersede" : "wait";
        case Unit::number:
        case Unit::share: break;
    }
    return fmt::format("{:.6g}", value);
}

}  // namespace forebay::cli
