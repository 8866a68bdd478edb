// The options of an analysis, each once, in the form of option_list.hpp: key, values, meaning, kinds of analyses that
// use it, and member. The reader of the configuration, the check of a stream, the comparison of ranks, the control page
// and the table of docs/reference/configuration.md are made from this list.
//
// To add an option, add a member of Analysis, a line in each_option(), and the code in the analyser. each_option()
// calls `visit(AnalysisOption, values, member)`. The type of `values` is a type of option_list.hpp or one of these:
//
//   Flag         log = true          NameList   variables = ["gas/x", "gas/y"]     PointList   points = [[0, 3, 7]]
//   NumberRange  range = [0, 1e4]    LengthList length = [1, 1, 4]                 WordList  action = ["mark", "stop"]
//   ConditionList  condition = "*/nan > 0"                                         AnyText   script = "look.py"

#pragma once

#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/describe/option_list.hpp"
#include "core/describe/schema.hpp"
#include "forebay/describe.hpp"

namespace forebay::describe {

/// Names of variables, or patterns with `*`.
struct NameList {};
/// The lower and the upper end: the members `low` and `high`. NaN: the analysis finds the end.
struct NumberRange {};
/// Indices into an array, one for each dimension.
struct PointList {};
/// Numbers above 0.
struct LengthList {};
/// A condition (condition.hpp), or a list of conditions.
struct ConditionList {};
/// A word of a list, or several of them.
template <class T>
struct WordList {
    std::span<const Word<T>> all;
};

inline constexpr Word<Analysis::Kind> analysis_words[] = {{"statistics", Analysis::Kind::statistics},
                                                          {"histogram", Analysis::Kind::histogram},
                                                          {"histogram_2d", Analysis::Kind::histogram_2d},
                                                          {"slice", Analysis::Kind::slice},
                                                          {"projection", Analysis::Kind::projection},
                                                          {"downsample", Analysis::Kind::downsample},
                                                          {"probe", Analysis::Kind::probe},
                                                          {"density", Analysis::Kind::density},
                                                          {"spectrum", Analysis::Kind::spectrum},
                                                          {"halos", Analysis::Kind::halos},
                                                          {"script", Analysis::Kind::script}};
inline constexpr Word<Palette> palette_words[] = {
    {"ember", Palette::ember}, {"tide", Palette::tide}, {"grey", Palette::grey}, {"balance", Palette::balance}};

inline constexpr Word<Analysis::Action> action_words[] = {{"mark", Analysis::Action::mark},
                                                          {"save", Analysis::Action::save},
                                                          {"stop", Analysis::Action::stop},
                                                          {"tell", Analysis::Action::tell}};

/// One bit for each kind.
constexpr std::uint32_t bits_of(std::initializer_list<Analysis::Kind> kinds) {
    std::uint32_t bits = 0;
    for (const auto kind : kinds) bits |= 1u << static_cast<unsigned>(kind);
    return bits;
}
inline constexpr std::uint32_t every_kind = (1u << std::size(analysis_words)) - 1;

struct AnalysisOption : Option {
    std::uint32_t kinds = every_kind;  // the kinds that use the option
    bool is_of(Analysis::Kind kind) const { return (kinds & bits_of({kind})) != 0; }
};

/// `analysis`: Analysis, const or not. The name of the analysis is the key of its table.
template <class Given, class Visit>
void each_option(Given& analysis, Visit&& visit) requires std::is_same_v<std::remove_const_t<Given>, Analysis> {
    // A new member does not compile here until it has a line below.
    auto& [name, kind, variables, every, bins, low, high, log, axis, by, at, factor, points, length, pixels,
           linking_length, members, picture, palette, script, python, time_limit, memory_limit, condition, action] =
        analysis;
    using K = Analysis::Kind;
    constexpr auto binned = bits_of({K::histogram, K::histogram_2d});
    constexpr auto drawn = bits_of({K::slice, K::projection, K::density});
    constexpr auto in_domain = drawn | bits_of({K::spectrum, K::halos});
    constexpr auto scripted = bits_of({K::script});
    constexpr std::uint64_t int_max = std::numeric_limits<int>::max();
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    using A = AnalysisOption;
    visit(A{{"kind", "the kind of analysis"}}, Words<K>{analysis_words}, kind);
    visit(A{{"variables", "its variables, in the order that the kind needs"}, every_kind & ~scripted}, NameList{},
          variables);
    visit(A{{"every", "analyse the steps that are multiples of this number"}}, Whole{1, most}, every);
    visit(A{{"bins", "number of bins of a histogram, along each axis"}, binned}, Whole{1, 65'536}, bins);
    visit(A{{"range", "lower and upper end of the bins and of the colours"}, binned | drawn}, NumberRange{},
          std::tie(low, high));
    visit(A{{"log", "use logarithmic bins and colours"}, binned | drawn}, Flag{}, log);
    visit(A{{"axis", "the dimension to cut or to sum along"}, drawn}, Whole{0, dims_max - 1}, axis);
    visit(A{{"by", "make separate statistics for each index of this dimension; -1: no dimension"},
            bits_of({K::statistics})},
          Whole{-1, dims_max - 1}, by);
    visit(A{{"at", "the index of the plane; -1: the middle"}, bits_of({K::slice})}, Whole{-1, most}, at);
    visit(A{{"factor", "how many elements are averaged along each dimension"}, bits_of({K::downsample})},
          Whole{1, int_max}, factor);
    visit(A{{"points", "the points, each with one index for each dimension"}, bits_of({K::probe})}, PointList{},
          points);
    visit(A{{"length", "the length of the domain, one for each dimension or one for all"}, in_domain}, LengthList{},
          length);
    visit(A{{"pixels", "pixels of the longer side of the plane, at most; for a density, its cells"}, drawn},
          Whole{16, 8192}, pixels);
    visit(A{{"linking_length", "the linking length, as a multiple of the mean distance between particles"},
            bits_of({K::halos})},
          Real{}, linking_length);
    visit(A{{"members", "the smallest number of members of a halo"}, bits_of({K::halos})}, Whole{2, int_max}, members);
    visit(A{{"picture", "also make a picture"}, drawn}, Flag{}, picture);
    visit(A{{"palette", "the colours of the picture"}, drawn}, Words<Palette>{palette_words}, palette);
    visit(A{{"script", "the file of the script"}, scripted}, AnyText{"a file"}, script);
    visit(A{{"python", "the Python interpreter"}, scripted}, AnyText{"a program"}, python);
    visit(A{{"time_limit_seconds", "the time limit for a call of one of its functions"}, scripted}, Seconds{},
          time_limit);
    visit(A{{"memory_limit_bytes", "the memory limit of the script; 0: no limit"}, scripted}, Whole{0, most},
          memory_limit);
    visit(A{{"condition", "one or more conditions on the results: a condition is fulfilled if any element fulfils it"}},
          ConditionList{}, condition);
    visit(A{{"action", "the action if a condition is fulfilled"}}, WordList<Analysis::Action>{action_words}, action);
}

/// Returns "STREAM.NAME", the stream that gets the results.
std::string result_stream(const std::string& stream, const Analysis& analysis);
/// The inverse, for a stream of results. "" if the name cannot be a result stream.
std::string source_stream(const std::string& result_stream);
/// An attribute of each result: the id of its snapshot, as 16 hexadecimal digits.
inline constexpr const char* source_attribute = "made_of_snapshot";
/// Returns true if a snapshot with this schema holds results.
bool is_result(const Schema& schema);

/// Returns every option of every analysis with its value, "insitu.NAME.kind". They must be equal on all ranks.
Settings settings_of(const std::vector<Analysis>& analyses);

/// `refused`, with analysis and option, for an analysis that no snapshot could satisfy.
Result<> check_values(const std::string& stream, const std::vector<Analysis>& analyses);

/// `refused` if the results of an analysis would go into a stream of the list.
Result<> check_result_streams(const std::vector<std::pair<std::string, StreamOptions>>& streams);

/// The text of an option for people, and the kinds that use it. No kinds: all kinds.
struct AnalysisLine : OptionLine {
    std::vector<std::string> kinds;
};
std::vector<AnalysisLine> analysis_option_lines();

}  // namespace forebay::describe
