// Uses the list of options. each_option() calls a visitor for each line. The three visitors here collect the values
// (Collect), check them against their bounds (Check), and describe the lines for the page (Tell). A visitor has an
// operator() for each type of values in option_list.hpp. A new type needs an operator() in each visitor, and a new
// option needs nothing. The words of the option `file`, old and new, are at the end.

#include "core/describe/option_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/base/limits.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/describe/conventions.hpp"
#include "core/describe/show_option.hpp"

namespace forebay::describe {

std::string show(const Real&, double value) { return fmt::to_string(value); }

std::string show(const Seconds&, std::chrono::milliseconds value) {
    return fmt::to_string(std::chrono::duration<double>(value).count());
}

namespace {

constexpr std::string_view combined_prefix = "combined:";

std::string show_names(const std::vector<Convention>& conventions) {
    std::string names;
    for (const auto convention : conventions)
        names += (names.empty() ? "" : ", ") + std::string(known(convention).name);
    return names;
}

struct Collect {
    Settings& settings;
    std::string prefix = {};

    template <class Values, class Value>
    void operator()(const Option& option, const Values& values, const Value& value) const {
        settings.push_back({prefix + option.key, show(values, value)});
    }
    void operator()(const Option& option, const Views&,
                    const std::tuple<const bool&, const std::vector<Convention>&>& both) const {
        settings.push_back({option.key, std::get<0>(both) ? "true" : "false"});
        settings.push_back({"conventions", show_names(std::get<1>(both))});
    }
    template <class Rules>
    void operator()(const Option& option, const Compressions&,
                    const std::tuple<const Compression&, const Rules&>& both) const {
        each_option(std::get<0>(both), Collect{settings, option.key + std::string(".")});
        for (const auto& [pattern, rule] : std::get<1>(both))
            each_option(rule, Collect{settings, fmt::format("{}.variables '{}' ", option.key, pattern)});
    }
    void operator()(const Option&, const Analyses&, const std::vector<Analysis>& analyses) const {
        std::ranges::move(settings_of(analyses), std::back_inserter(settings));
    }
};

// Finds the first invalid value.
struct Check {
    const std::string& stream;
    Result<>& verdict;

    template <class Integer>
    void operator()(const Option& option, const Whole& range, Integer value) const {
        if (!range.has(value)) refuse(option, fmt::to_string(value), values_of(range));
    }
    void operator()(const Option& option, const Seconds& seconds, std::chrono::milliseconds value) const {
        if (value.count() < 0 || value > seconds.most)
            refuse(option, show(seconds, value), fmt::format("from 0 to {}", show(seconds, seconds.most)));
    }
    template <class T>
    void operator()(const Option& option, const Words<T>& words, T value) const {
        if (std::ranges::find(words.all, value, &Word<T>::value) == words.all.end())
            refuse(option, show(words, value), values_of(words));
    }
    template <class T>
    void operator()(const Option& option, const Text<T>& text, const T& value) const {
        // A value is valid if its text reads back.
        if (!text.parse(text.show(value))) refuse(option, text.show(value), text.values);
    }
    template <class Flag, class List>
    void operator()(const Option& option, const Views&, const std::tuple<Flag, List>& both) const {
        for (const auto convention : std::get<1>(both))
            if (!convention_numbered(static_cast<std::uint64_t>(convention)))
                refuse(option, fmt::format("number {}", static_cast<long>(convention)), convention_names());
    }
    // node::check() checks if the rules of compression fit together and fit the names of variables.
    template <class One, class Rules>
    void operator()(const Option&, const Compressions&, const std::tuple<One, Rules>&) const {}
    void operator()(const Option&, const Analyses&, const std::vector<Analysis>& analyses) const {
        if (verdict) verdict = check_values(stream, analyses);
    }

    void refuse(const Option& option, const std::string& value, const std::string& allowed) const {
        if (verdict)
            verdict = Error{ErrorKind::refused,
                            fmt::format("stream '{}': {} is {}: {}.", stream, option.key, value, allowed)};
    }
};

struct Tell {
    std::vector<OptionLine>& lines;

    template <class Values, class Value>
    void operator()(const Option& option, const Values& values, const Value& value) const {
        lines.push_back({option.key, tell(values), show(values, value), option.meaning});
    }
    void operator()(const Option& option, const Views&,
                    const std::tuple<const bool&, const std::vector<Convention>&>&) const {
        lines.push_back({option.key, "true, false, one of or a list of " + convention_names(), "true", option.meaning});
    }
    template <class Rules>
    void operator()(const Option& option, const Compressions&,
                    const std::tuple<const Compression&, const Rules&>& both) const {
        const Words<Codec> words{codec_words};
        lines.push_back(
            {option.key, values_of(words) + ", or a table", show(words, std::get<0>(both).codec), option.meaning});
    }
    void operator()(const Option& option, const Analyses&, const std::vector<Analysis>&) const {
        lines.push_back({option.key, "a table of tables", "none", option.meaning});
    }

    static std::string tell(const Whole& range) { return values_of(range); }
    static std::string tell(const Seconds&) { return "seconds"; }
    template <class T>
    static std::string tell(const Words<T>& words) {
        return values_of(words);
    }
    template <class T>
    static std::string tell(const Text<T>& text) {
        return text.values;
    }
};

}  // namespace

std::string values_of(const Whole& range) {
    constexpr auto int_least = std::numeric_limits<int>::min();
    constexpr auto int_most = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    if (range.least == int_least && range.most >= int_most) return "a whole number";
    if (range.most >= int_most) return fmt::format("{} or more", range.least + (range.least_is_unset ? 1 : 0));
    if (std::cmp_equal(range.least + 1, range.most)) return fmt::format("{} or {}", range.least, range.most);
    return fmt::format("from {} to {}", range.least, range.most);
}

Settings settings_of(const StreamOptions& options) {
    Settings settings;
    each_option(options, Collect{settings});
    return settings;
}

Result<> check_values(const std::string& stream, const StreamOptions& options) {
    Result<> verdict;
    each_option(options, Check{stream, verdict});
    return verdict;
}

std::vector<OptionLine> stream_option_lines() {
    std::vector<OptionLine> lines;
    const StreamOptions defaults;
    each_option(defaults, Tell{lines});
    return lines;
}

std::string said_now(const std::string& key, const std::string& value) {
    const auto file = [](const TargetFile& form) { return fmt::format("file = \"{}\"", name_of(form)); };
    if (key == "nodes_per_file") {
        int nodes = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), nodes);
        if (error != std::errc{} || end != value.data() + value.size()) return file({});
        return file(nodes > 1 ? TargetFile::combined(nodes) : TargetFile::own());
    }
    if (key == "shared")
        return file(value == "true"         ? TargetFile::shared()
                    : value == "\"h5part\"" ? TargetFile::shared_h5part()
                                            : TargetFile::own());
    return {};
}

}  // namespace forebay::describe

namespace forebay {

Result<TargetFile> parse_target_file(const std::string& word) {
    using describe::combined_prefix;
    for (const auto& plain : {TargetFile::own(), TargetFile::shared(), TargetFile::shared_h5part()})
        if (word == name_of(plain)) return plain;
    if (word.starts_with(combined_prefix)) {
        int nodes = 0;
        const auto* last = word.data() + word.size();
        const auto [end, error] = std::from_chars(word.data() + combined_prefix.size(), last, nodes);
        if (error == std::errc{} && end == last && nodes >= 2 && nodes <= static_cast<int>(limits::nodes_per_file_max))
            return TargetFile::combined(nodes);
    }
    return Error{
        ErrorKind::refused, fmt::format("\"{}\" is not a form of files at a target", word), "",
        fmt::format("\"own\", \"combined:N\" for N from 2 to {} nodes in a file, \"shared\" or \"shared-h5part\"",
                    limits::nodes_per_file_max)};
}

std::string name_of(const TargetFile& file) {
    switch (file.kind) {
        case TargetFile::Kind::own: return "own";
        case TargetFile::Kind::combined: return fmt::format("{}{}", describe::combined_prefix, file.nodes);
        case TargetFile::Kind::shared: return file.as_h5part ? "shared-h5part" : "shared";
    }
    return fmt::format("number {}", static_cast<long>(file.kind));
}

}  // namespace forebay
