#include "insight/advice/preflight/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <toml++/toml.h>

#include "core/base/show_text.hpp"

namespace forebay::advice {

namespace {

using format::Severity;
using std::chrono::seconds;

// toml++ splits dotted keys by recursion; a file of this size cannot overflow the stack.
constexpr std::size_t site_bytes_max = 64u << 10;
// All of preflight has a minute.
constexpr double deadline_seconds_min = 0.1, deadline_seconds_max = 600;
// The tests for slow nodes never call a higher share of the median slow (walk.hpp).
constexpr double speed_max = 0.8;

Error refused_rule(const std::string& path, const toml::node& where, const std::string& what) {
    return {ErrorKind::refused, fmt::format("{}, line {}: {}", path, where.source().begin.line, what), "",
            "docs/reference/preflight.md has the checks and their keys"};
}

Result<> take_severity(CheckRule& rule, const toml::node& value, const std::string& path) {
    const auto word = value.value<std::string>();
    constexpr std::pair<std::string_view, Severity> words[] = {
        {"fail", Severity::fail}, {"warn", Severity::warn}, {"note", Severity::note}, {"off", Severity::note}};
    const auto* match = std::ranges::find(words, word.value_or(""), &std::pair<std::string_view, Severity>::first);
    if (!word || match == std::end(words))
        return refused_rule(path, value, fmt::format("severity of [{}] must be fail, warn, note or off", rule.name));
    rule.most = match->second;
    rule.on = match->first != "off";
    return {};
}

Result<> take_key(CheckRule& rule, std::string_view key, const toml::node& value, const std::string& path) {
    if (key == "severity") return take_severity(rule, value, path);
    const bool has_key = key == "warn" ? rule.has_warn : key == "fail" ? rule.has_fail : rule.has_deadline;
    if (!has_key || (key != "warn" && key != "fail" && key != "deadline_seconds"))
        return refused_rule(path, value, fmt::format("[{}] has no key \"{}\"", rule.name, show_text(key)));
    const auto number = value.value<double>();
    const bool is_deadline = key == "deadline_seconds";
    const double least = is_deadline ? deadline_seconds_min : rule.threshold_min;
    const double most = is_deadline ? deadline_seconds_max : rule.threshold_max;
    if (!number || !std::isfinite(*number) || *number < least || *number > most)
        return refused_rule(path, value, fmt::format("{} of [{}] must be {} to {}", key, rule.name, least, most));
    if (key == "warn") rule.warn = *number;
    else if (key == "fail") rule.fail = *number;
    else rule.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(*number * 1000));
    return {};
}

// The fail threshold must lie beyond the warn threshold: above it if the defaults rise, else below it.
bool fails_before_it_warns(const CheckRule& rule, const CheckRule& usual) {
    if (!rule.has_warn || !rule.has_fail) return false;
    return usual.fail > usual.warn ? rule.fail < rule.warn : rule.fail > rule.warn;
}

// A deadline of 0 means that the check has none.
CheckRule plain(std::string_view name, Severity most, seconds deadline) {
    return {.name = name, .most = most, .deadline = deadline, .has_deadline = deadline > seconds(0)};
}

struct ThresholdRange {
    double min = 0, max = 1;
};

CheckRule with(std::string_view name, Severity most, double warn, double fail, seconds deadline,
               ThresholdRange range = {}) {
    auto rule = plain(name, most, deadline);
    rule.warn = warn;
    rule.fail = fail;
    rule.has_warn = rule.has_fail = true;
    rule.threshold_min = range.min;
    rule.threshold_max = range.max;
    return rule;
}

}  // namespace

Rules::Rules()
    : rules_{plain("answer", Severity::fail, seconds(20)),
             with("memory", Severity::fail, 0.05, 0, seconds(0)),
             with("staging", Severity::fail, 0.01, 0, seconds(0)),
             plain("mounts", Severity::fail, seconds(5)),
             with("targets", Severity::fail, 0.85, 0.98, seconds(20)),
             with("target-speed", Severity::fail, 0.8, 0.8, seconds(10), {0, speed_max}),
             with("node-speed", Severity::fail, 0.8, 0.5, seconds(20), {0, speed_max}),
             with("metadata", Severity::warn, 10, 1000, seconds(10), {1, 1e6}),
             plain("mpi", Severity::fail, seconds(10)),
             with("clock", Severity::fail, 0.001, 1, seconds(5), {0, 86'400}),
             with("limits", Severity::fail, 1024, 64, seconds(0), {0, 1e9}),
             with("budget", Severity::fail, 0.8, 1, seconds(20)),
             plain("profile", Severity::note, seconds(0))} {
    of(CheckKind::staging).has_fail = false;  // slots that do not fit always fail
}

Result<Rules> Rules::parse(std::string_view text, const std::string& path) {
    if (text.size() > site_bytes_max)
        return Error{ErrorKind::refused, fmt::format("{} has more than {} bytes", path, site_bytes_max)};
    toml::table table;
    try {
        table = toml::parse(text, path);
    } catch (const toml::parse_error& wrong) {
        return Error{ErrorKind::refused, fmt::format("{}, line {}: {}", path, wrong.source().begin.line,
                                                     show_text(std::string_view(wrong.description())))};
    }
    Rules rules;
    for (const auto& [name, node] : table) {
        const auto rule = std::ranges::find(rules.rules_, name.str(), &CheckRule::name);
        const auto* keys = node.as_table();
        if (rule == rules.rules_.end() || keys == nullptr)
            return refused_rule(path, node, fmt::format("there is no check \"{}\"", show_text(name.str())));
        for (const auto& [key, value] : *keys)
            if (const auto taken = take_key(*rule, key.str(), value, path); !taken) return taken.error();
        const Rules usual;
        if (fails_before_it_warns(*rule, usual.rules_[static_cast<std::size_t>(rule - rules.rules_.begin())]))
            return refused_rule(
                path, node,
                fmt::format("[{}] would fail at {} before it warns at {}", rule->name, rule->fail, rule->warn));
    }
    return rules;
}

void Rules::add(std::vector<format::Finding>& findings, CheckKind check, format::Finding finding) const {
    const auto& rule = of(check);
    if (!rule.on) return;
    finding.check = rule.name;
    finding.severity = std::min(finding.severity, rule.most);
    findings.push_back(std::move(finding));
}

}  // namespace forebay::advice
