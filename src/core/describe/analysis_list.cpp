// Uses the list of analysis options. The visitors turn values into text to compare ranks, and check each value against
// its line. The functions after them check the options against the kind, and names against other streams. Each visitor
// has an operator() for each type of values, so a new option needs nothing here.

#include "core/describe/analysis_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/limits.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/describe/condition.hpp"
#include "core/describe/schema.hpp"
#include "core/describe/show_option.hpp"

namespace forebay::describe {

namespace {

constexpr int bins_2d_max = 4096;  // along each axis: 128 MiB of counts
constexpr std::size_t conditions_max = 16;
constexpr int stars_max = 4;                  // in a pattern, as in the rules of compression
constexpr std::size_t text_bytes_max = 1024;  // of a path: so the paths of a stream's analyses fit on the control page

std::string show(const Flag&, bool value) { return value ? "true" : "false"; }
std::string show(const NameList&, const std::vector<std::string>& names) { return fmt::format("{}", names); }
std::string show(const NumberRange&, const std::tuple<const double&, const double&>& ends) {
    return fmt::format("[{}, {}]", std::get<0>(ends), std::get<1>(ends));
}
std::string show(const PointList&, const std::vector<std::vector<std::int64_t>>& points) {
    return fmt::format("{}", points);
}
std::string show(const LengthList&, const std::vector<double>& lengths) { return fmt::format("{}", lengths); }
std::string show(const ConditionList&, const std::vector<std::string>& texts) { return fmt::format("{}", texts); }
template <class T>
std::string show(const WordList<T>& words, const std::vector<T>& values) {
    std::string text;
    for (const auto value : values) text += (text.empty() ? "" : ", ") + show(Words<T>{words.all}, value);
    return text;
}
std::string show(const AnyText&, const std::string& text) { return show_text(text); }

struct CollectAnalysis {
    Settings& settings;
    std::string prefix = {};

    template <class Values, class Value>
    void operator()(const AnalysisOption& option, const Values& values, const Value& value) const {
        settings.push_back({prefix + option.key, show(values, value)});
    }
};

// The values of the options that a kind does not use, in the form of CollectAnalysis.
struct CollectUnused {
    Analysis::Kind kind;
    Settings& settings;

    template <class Values, class Value>
    void operator()(const AnalysisOption& option, const Values& values, const Value& value) const {
        if (!option.is_of(kind)) settings.push_back({option.key, show(values, value)});
    }
};

// Finds the first invalid value.
struct CheckAnalysis {
    const std::string& whose;
    Result<>& verdict;

    template <class Integer>
    void operator()(const AnalysisOption& option, const Whole& range, Integer value) const {
        if (!range.has(value)) refuse(option, show(range, value), values_of(range));
    }
    template <class T>
    void operator()(const AnalysisOption& option, const Words<T>& words, T value) const {
        if (std::ranges::find(words.all, value, &Word<T>::value) == words.all.end())
            refuse(option, show(words, value), values_of(words));
    }
    void operator()(const AnalysisOption& option, const Real& real, double value) const {
        if (!is_length(value)) refuse(option, show(real, value), "a number above 0");
    }
    void operator()(const AnalysisOption& option, const NumberRange& range,
                    const std::tuple<const double&, const double&>& ends) const {
        const auto [low, high] = ends;
        // NaN passes each comparison: the analysis finds this end.
        if (std::isinf(low) || std::isinf(high) || low >= high)
            refuse(option, show(range, ends), "two numbers, the lower number first");
    }
    void operator()(const AnalysisOption& option, const NameList&, const std::vector<std::string>& names) const {
        for (const auto& name : names)
            if (name.empty() || name.size() > limits::name_bytes_max || !is_showable(name) ||
                std::ranges::count(name, '*') > stars_max)
                refuse(option, fmt::format("'{}'", show_text(name)), "a name, or a pattern with at most 4 '*'");
    }
    void operator()(const AnalysisOption& option, const PointList& list,
                    const std::vector<std::vector<std::int64_t>>& points) const {
        for (const auto& point : points)
            if (point.empty() || point.size() > dims_max || point.size() != points.front().size() ||
                std::ranges::any_of(point, [](auto index) { return index < 0; }))
                return refuse(
                    option, show(list, points),
                    fmt::format("indices of 0 or more, one for each dimension of the array, 1 to {}", dims_max));
    }
    void operator()(const AnalysisOption& option, const LengthList& list, const std::vector<double>& lengths) const {
        if (lengths.size() > dims_max || !std::ranges::all_of(lengths, is_length))
            refuse(option, show(list, lengths), fmt::format("1 to {} numbers above 0", dims_max));
    }
    void operator()(const AnalysisOption& option, const ConditionList&, const std::vector<std::string>& texts) const {
        for (const auto& text : texts)
            if (const auto parsed = parse_condition(text); !parsed)
                return refuse(option, fmt::format("'{}'", show_text(text)), parsed.error().what);
        if (texts.size() > conditions_max)
            refuse(option, fmt::format("a list of {}", texts.size()), fmt::format("at most {}", conditions_max));
    }
    template <class T>
    void operator()(const AnalysisOption& option, const WordList<T>& words, const std::vector<T>& values) const {
        for (const auto value : values)
            if (std::ranges::find(words.all, value, &Word<T>::value) == words.all.end() ||
                std::ranges::count(values, value) > 1)
                return refuse(option, show(words, values), values_of(Words<T>{words.all}) + ", each once");
        if (values.empty()) refuse(option, "empty", "at least one is needed");
    }
    void operator()(const AnalysisOption&, const Flag&, bool) const {}
    void operator()(const AnalysisOption& option, const AnyText& any, const std::string& text) const {
        if (text.size() > text_bytes_max || !is_showable(text))
            refuse(option, fmt::format("'{}'", show(any, text)),
                   fmt::format("{} of at most {} bytes, without control "
                               "characters",
                               any.what, text_bytes_max));
    }
    void operator()(const AnalysisOption& option, const Seconds& seconds, std::chrono::milliseconds value) const {
        if (value <= std::chrono::milliseconds(0) || value > wait_longest)
            refuse(option, show(seconds, value), "a number of seconds above 0");
    }

    void refuse(const Option& option, const std::string& value, const std::string& allowed) const {
        if (verdict)
            verdict = Error{ErrorKind::refused, fmt::format("{}.{} is {}: {}.", whose, option.key, value, allowed)};
    }
    static bool is_length(double value) { return std::isfinite(value) && value > 0; }
};

struct TellAnalysis {
    std::vector<AnalysisLine>& lines;

    template <class Values, class Value>
    void operator()(const AnalysisOption& option, const Values& values, const Value& value) const {
        AnalysisLine line{{option.key, tell(values), by_default(values, value), option.meaning}, {}};
        if (option.kinds != every_kind)
            for (const auto& word : analysis_words)
                if (option.is_of(word.value)) line.kinds.emplace_back(word.name);
        lines.push_back(std::move(line));
    }

    static std::string tell(const Whole& range) { return values_of(range); }
    template <class T>
    static std::string tell(const Words<T>& words) {
        return values_of(words);
    }
    static std::string tell(const Real&) { return "a number above 0"; }
    static std::string tell(const Flag&) { return "true or false"; }
    static std::string tell(const NameList&) { return "a list of names, or of patterns with *"; }
    static std::string tell(const NumberRange&) { return "two numbers"; }
    static std::string tell(const PointList&) { return "a list of lists of indices"; }
    static std::string tell(const LengthList&) { return "1 to 8 numbers"; }
    static std::string tell(const ConditionList&) { return "a condition, or a list of them"; }
    template <class T>
    static std::string tell(const WordList<T>& words) {
        return values_of(Words<T>{words.all}) + ", or a list of them";
    }
    static std::string tell(const AnyText& any) { return any.what; }
    static std::string tell(const Seconds&) { return "a number above 0"; }

    template <class Values, class Value>
    static std::string by_default(const Values& values, const Value& value) {
        auto text = show(values, value);
        return text == "[]" || text.empty() ? "none" : text == "[nan, nan]" ? "found" : text;
    }
};

// Returns how many variables a kind combines. Empty for kinds that process each variable alone.
std::vector<std::size_t> counts_of(Analysis::Kind kind) {
    switch (kind) {
        case Analysis::Kind::histogram_2d: return {2};
        case Analysis::Kind::density: return {3, 4};
        case Analysis::Kind::halos: return {3, 6, 7};
        default: return {};
    }
}

Result<> check_variables(const Analysis& analysis, const std::string& kind, const std::string& whose) {
    const auto counts = counts_of(analysis.kind);
    if (analysis.variables.empty() && analysis.kind != Analysis::Kind::script)
        return Error{ErrorKind::refused, fmt::format("{}.variables is empty: at least one is needed.", whose)};
    if (counts.empty()) return {};
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorKind::refused, fmt::format("{}.variables: {}.", whose, why)};
    };
    if (std::ranges::find(counts, analysis.variables.size()) == counts.end())
        return refuse(fmt::format("{} of {}, not {}", kind, fmt::join(counts, " or "), analysis.variables.size()));
    for (const auto& name : analysis.variables)
        if (name.find('*') != std::string::npos)
            return refuse(fmt::format("'{}' is a pattern, but {} needs each variable by its name", name, kind));
    return {};
}

// Checks the options of a kind against each other.
Result<> check_together(const Analysis& analysis, const std::string& kind, const std::string& whose) {
    using K = Analysis::Kind;
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorKind::refused, fmt::format("{}.{}.", whose, why)};
    };
    if (analysis.condition.empty() && analysis.action != Analysis().action)
        return refuse("action has no effect without a condition");
    if (analysis.kind == K::histogram_2d && analysis.bins > bins_2d_max)
        return refuse(fmt::format("bins is {}: {} needs 1 to {} along each axis", analysis.bins, kind, bins_2d_max));
    if (analysis.log && (analysis.low <= 0 || analysis.high <= 0))
        return refuse(
            fmt::format("range is [{}, {}]: with log both ends must be above 0", analysis.low, analysis.high));
    if (analysis.kind == K::density && analysis.axis > 2)
        return refuse(fmt::format("axis is {}: {} takes 0 for x, 1 for y, 2 for z", analysis.axis, kind));
    if ((analysis.kind == K::density || analysis.kind == K::halos) && analysis.length.empty())
        return refuse(fmt::format("length is missing: {} needs the lengths of the domain", kind));
    const bool has_three = analysis.kind == K::density || analysis.kind == K::halos || analysis.kind == K::spectrum;
    if (has_three && analysis.length.size() > 1 && analysis.length.size() != 3)
        return refuse(fmt::format("length has {} numbers: {} takes one number, or one for each of 3 dimensions",
                                  analysis.length.size(), kind));
    if (analysis.kind == K::probe && analysis.points.empty())
        return refuse(fmt::format("points is empty: {} needs at least one", kind));
    if (analysis.kind == K::script && analysis.script.empty())
        return refuse("script is missing: give the file of the script");
    return check_variables(analysis, kind, whose);
}

Result<> check_one(const std::string& stream, const Analysis& analysis) {
    const auto whose = fmt::format("stream '{}': insitu.{}", stream, show_text(analysis.name));
    if (analysis.name.empty() || analysis.name.find_first_of("./") != std::string::npos)
        return Error{ErrorKind::refused,
                     fmt::format("{}: the name of an analysis must not be empty or contain '.' or '/'.", whose)};
    FB_TRY(check_described(Schema{.stream = result_stream(stream, analysis), .tables = {}, .variables = {}}));
    const auto kind = show(Words<Analysis::Kind>{analysis_words}, analysis.kind);
    Result<> verdict;
    each_option(analysis, CheckAnalysis{whose, verdict});  // the kind is checked first, because its bit is used next
    FB_TRY(verdict);
    // An option that the kind does not use may have its default value.
    Settings unused, untouched;
    each_option(analysis, CollectUnused{analysis.kind, unused});
    const Analysis defaults;
    each_option(defaults, CollectUnused{analysis.kind, untouched});
    if (const auto [given, other] = std::ranges::mismatch(unused, untouched); given != unused.end())
        return Error{ErrorKind::refused,
                     fmt::format("{}.{} is {}: {} does not use it.", whose, given->name, given->value, kind)};
    return check_together(analysis, kind, whose);
}

}  // namespace

std::string result_stream(const std::string& stream, const Analysis& analysis) { return stream + "." + analysis.name; }

std::string source_stream(const std::string& result_stream) {
    const auto dot = result_stream.rfind('.');
    return dot == std::string::npos ? "" : result_stream.substr(0, dot);
}

bool is_result(const Schema& schema) {
    // All variables of a result have the attribute, so the first is enough.
    return !schema.variables.empty() &&
           std::ranges::any_of(schema.variables.front().attributes.others,
                               [](const auto& other) { return other.first == source_attribute; });
}

Settings settings_of(const std::vector<Analysis>& analyses) {
    Settings settings;
    for (const auto& analysis : analyses)
        each_option(analysis, CollectAnalysis{settings, fmt::format("insitu.{}.", analysis.name)});
    return settings;
}

Result<> check_values(const std::string& stream, const std::vector<Analysis>& analyses) {
    std::set<std::string_view> names;
    for (const auto& analysis : analyses) {
        FB_TRY(check_one(stream, analysis));
        if (!names.insert(analysis.name).second)
            return Error{ErrorKind::refused,
                         fmt::format("stream '{}': two analyses have the name '{}'.", stream, analysis.name)};
    }
    return {};
}

Result<> check_result_streams(const std::vector<std::pair<std::string, StreamOptions>>& streams) {
    for (const auto& [stream, options] : streams)
        for (const auto& analysis : options.insitu)
            for (const auto& other : streams)
                if (other.first == result_stream(stream, analysis))
                    return Error{
                        ErrorKind::refused,
                        fmt::format("stream '{}' has the same name as the results of analysis '{}' of stream '{}'",
                                    other.first, analysis.name, stream),
                        "", "rename the stream or the analysis"};
    return {};
}

std::vector<AnalysisLine> analysis_option_lines() {
    std::vector<AnalysisLine> lines;
    const Analysis defaults;
    each_option(defaults, TellAnalysis{lines});
    return lines;
}

}  // namespace forebay::describe
