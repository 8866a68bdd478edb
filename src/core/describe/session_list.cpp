// Uses the list of session options. The visitors turn values into text to compare ranks, check each value against its
// line, and describe the lines for the page. Each visitor has an operator() for each type of values, so a new option
// needs nothing here.

#include "core/describe/session_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/show_text.hpp"
#include "core/describe/host_list.hpp"
#include "core/describe/show_option.hpp"
#include "core/describe/storage_targets.hpp"

namespace forebay::describe {

namespace {

// Values as ranks compare them. Texts stay as given.
std::string show_session(const AnyText&, const std::string& value) { return value; }
std::string show_session(const TargetList&, const std::string& value) { return value; }
std::string show_session(const HostList&, const std::string& value) { return value; }
std::string show_session(const Flag&, bool value) { return value ? "true" : "false"; }
std::string show_session(const OnlyWord& only, bool value) { return value ? only.word : ""; }
std::string show_session(const FlagOrAuto&, Direct value) { return show(Words<Direct>{direct_words}, value); }
std::string show_session(const Pages&, std::uint64_t value) { return fmt::to_string(value); }
std::string show_session(const RealRange&, double value) { return fmt::to_string(value); }
std::string show_session(const WholeOrAuto& whole, int value) { return value == 0 ? "auto" : show(whole.range, value); }
std::string show_session(const TextList&, const std::vector<std::string>& values) {
    return fmt::format("{}", fmt::join(values, ", "));
}
std::string show_session(const EnvironmentList&, const std::vector<std::pair<std::string, std::string>>& values) {
    std::string text;
    for (const auto& [name, value] : values) text += (text.empty() ? "" : " ") + name + "=" + value;
    return text;
}
template <class Values, class Value>
std::string show_session(const Values& values, const Value& value) {
    return show(values, value);
}

struct CollectSession {
    Settings& settings;
    std::string prefix = {};

    template <class Values, class Value>
    void operator()(const SessionOption& option, const Values& values, const Value& value) const {
        if (option.ranks == AcrossRanks::alike) settings.push_back({prefix + option.key, show_session(values, value)});
    }
    template <class Inner>
    void operator()(const SessionOption& option, const OptionTable&, const Inner& inner) const {
        each_option(inner, CollectSession{settings, prefix + option.key + "."});
    }
    void operator()(const SessionOption& option, const StreamTables&,
                    const std::vector<std::pair<std::string, StreamOptions>>& streams) const {
        for (const auto& [name, stream] : streams)
            for (auto& [setting, value] : settings_of(stream))
                settings.push_back({fmt::format("{}.{}.{}", option.key, name, setting), std::move(value)});
    }
};

// Finds the first invalid value.
struct CheckSession {
    Result<>& verdict;
    std::string prefix = {};

    template <class Integer>
    void operator()(const SessionOption& option, const Whole& range, Integer value) const {
        if (!range.has(value)) refuse(option, show(range, value), values_of(range));
    }
    void operator()(const SessionOption& option, const WholeOrAuto& whole, int value) const {
        if (value != 0 && !whole.range.has(value))
            refuse(option, fmt::to_string(value),
                   fmt::format("from 0, which is \"auto\", to {}", static_cast<std::uint64_t>(whole.range.most)));
    }
    void operator()(const SessionOption& option, const Seconds& seconds, std::chrono::milliseconds value) const {
        if (value.count() < 0 || value > seconds.most)
            refuse(option, show(seconds, value), fmt::format("from 0 to {}", show(seconds, seconds.most)));
    }
    void operator()(const SessionOption& option, const RealRange& range, double value) const {
        // The negation also refuses NaN.
        if (!(value >= range.least && value <= range.most))
            refuse(option, fmt::to_string(value),
                   fmt::format("from {} ({}) to {}", range.least, range.least_means, range.most));
    }
    void operator()(const SessionOption& option, const Pages& pages, std::uint64_t value) const {
        if (value == 0 || value % pages.bytes != 0)
            refuse(option, fmt::to_string(value),
                   fmt::format("a multiple of {}, best of the target's stripe", pages.bytes));
    }
    template <class T>
    void operator()(const SessionOption& option, const Words<T>& words, T value) const {
        if (std::ranges::find(words.all, value, &Word<T>::value) == words.all.end())
            refuse(option, show(words, value), values_of(words));
    }
    void operator()(const SessionOption& option, const FlagOrAuto&, Direct value) const {
        (*this)(option, Words<Direct>{direct_words}, value);
    }
    void operator()(const SessionOption& option, const TextList& list, const std::vector<std::string>& texts) const {
        if (texts.size() > list.most)
            refuse(option, fmt::format("a list of {}", texts.size()), fmt::format("at most {}", list.most));
    }
    void operator()(const SessionOption& option, const TargetList& list, const std::string& text) const {
        if (!verdict || (list.may_be_file && text.starts_with('@'))) return;
        if (const auto parsed = parse_storage_targets(text, prefix + option.key); !parsed) verdict = parsed.error();
    }
    void operator()(const SessionOption& option, const HostList&, const std::string& text) const {
        if (!verdict || text.starts_with('@')) return;
        if (const auto hosts = hosts_of(text); !hosts)
            verdict = with_context(hosts.error(), prefix + option.key + ": " + hosts.error().what);
    }
    void operator()(const SessionOption&, const AnyText&, const std::string&) const {}
    void operator()(const SessionOption&, const Flag&, bool) const {}
    void operator()(const SessionOption&, const OnlyWord&, bool) const {}
    void operator()(const SessionOption&, const EnvironmentList&,
                    const std::vector<std::pair<std::string, std::string>>&) const {}
    void operator()(const SessionOption&, const StreamTables&,
                    const std::vector<std::pair<std::string, StreamOptions>>&) const {}
    template <class Inner>
    void operator()(const SessionOption& option, const OptionTable&, const Inner& inner) const {
        each_option(inner, CheckSession{verdict, prefix + option.key + "."});
    }

    void refuse(const SessionOption& option, const std::string& value, const std::string& allowed) const {
        if (verdict)
            verdict = Error{ErrorKind::refused,
                            fmt::format("{}{} is {}: {}.", prefix, option.key, show_text(value), allowed)};
    }
};

struct TellSession {
    std::vector<OptionLine>& lines;
    std::string prefix = {};

    template <class Values, class Value>
    void operator()(const SessionOption& option, const Values& values, const Value& value) const {
        const std::string by_default = option.by_default;
        lines.push_back(
            {prefix + option.key, "", by_default.empty() ? show_session(values, value) : by_default, option.meaning});
    }
    template <class Inner>
    void operator()(const SessionOption& option, const OptionTable&, const Inner& inner) const {
        each_option(inner, TellSession{lines, prefix + option.key + "."});
    }
    void operator()(const SessionOption&, const StreamTables&,
                    const std::vector<std::pair<std::string, StreamOptions>>&) const {}
};

}  // namespace

Settings settings_of(const Options& options) {
    Settings settings;
    each_option(options, CollectSession{settings});
    return settings;
}

Result<> check_values(const Options& options) {
    Result<> verdict;
    each_option(options, CheckSession{verdict});
    return verdict;
}

Result<> check_values(const AgentOptions& options) {
    Result<> verdict;
    each_option(options, CheckSession{verdict, "agent."});
    return verdict;
}

std::vector<OptionLine> session_option_lines() {
    std::vector<OptionLine> lines;
    const Options defaults;
    each_option(defaults, TellSession{lines});
    return lines;
}

}  // namespace forebay::describe
