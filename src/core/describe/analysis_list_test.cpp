// Goal: each analysis option is described, checked and compared from one list. Impossible analyses are refused by name,
// and options that a kind does not use are refused too. The table of the page equals the list.
// Method: a valid analysis of each kind, and single changes of it; each option changed alone; the rows of
// docs/reference/configuration.md and of the list.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/describe/analysis_list.hpp"
#include "support/guide_table.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using describe::check_values, describe::settings_of;
using K = Analysis::Kind;

namespace {

constexpr auto infinity = std::numeric_limits<double>::infinity();

Analysis working(K kind) {
    Analysis analysis{.name = "a", .kind = kind, .variables = {"gas/*"}};
    if (kind == K::histogram_2d) analysis.variables = {"x", "y"};
    if (kind == K::density || kind == K::halos) {
        analysis.variables = {"gas/x", "gas/y", "gas/z"};
        analysis.length = {1};
    }
    if (kind == K::probe) analysis.points = {{0, 1, 2}};
    if (kind == K::script) analysis.variables = {}, analysis.script = "look.py";
    return analysis;
}

// Returns the text of the refusal, or "".
std::string refused(K kind, const std::function<void(Analysis&)>& change, const std::string& stream = "s") {
    auto analysis = working(kind);
    change(analysis);
    const auto checked = check_values(stream, {analysis});
    if (!checked) CHECK(checked.error().kind == ErrorKind::refused);
    return checked ? "" : checked.error().text();
}

void check_refused(K kind, const std::function<void(Analysis&)>& change, const std::string& words) {
    const auto text = refused(kind, change);
    CAPTURE(words);
    CHECK_MESSAGE(text.find(words) != std::string::npos, text);
}

using Change = std::pair<std::string, std::function<void(Analysis&)>>;

// For each option except `kind` and `variables`, a valid value that is not the default.
const std::vector<Change>& changes() {
    static const std::vector<Change> all = {{"every", [](Analysis& a) { a.every = 10; }},
                                            {"bins", [](Analysis& a) { a.bins = 64; }},
                                            {"range", [](Analysis& a) { a.low = 1, a.high = 2; }},
                                            {"log", [](Analysis& a) { a.log = true; }},
                                            {"axis", [](Analysis& a) { a.axis = 2; }},
                                            {"by", [](Analysis& a) { a.by = 2; }},
                                            {"at", [](Analysis& a) { a.at = 0; }},
                                            {"factor", [](Analysis& a) { a.factor = 1; }},
                                            {"points",
                                             [](Analysis& a) {
                                                 a.points = {{3}, {4}};
                                             }},
                                            {"length",
                                             [](Analysis& a) {
                                                 a.length = {1, 2, 3};
                                             }},
                                            {"pixels", [](Analysis& a) { a.pixels = 16; }},
                                            {"linking_length", [](Analysis& a) { a.linking_length = 0.25; }},
                                            {"members", [](Analysis& a) { a.members = 2; }},
                                            {"picture", [](Analysis& a) { a.picture = false; }},
                                            {"palette", [](Analysis& a) { a.palette = Palette::balance; }},
                                            {"script", [](Analysis& a) { a.script = "other.py"; }},
                                            {"python", [](Analysis& a) { a.python = "python3.12"; }},
                                            {"time_limit_seconds", [](Analysis& a) { a.time_limit = 1500ms; }},
                                            {"memory_limit_bytes", [](Analysis& a) { a.memory_limit_bytes = 0; }},
                                            {"condition", [](Analysis& a) { a.condition = {"*/nan > 0"}; }},
                                            {"action", [](Analysis& a) {
                                                 if (a.condition.empty()) a.condition = {"*/nan > 0"};
                                                 a.action = {Analysis::Action::stop, Analysis::Action::mark};
                                             }}};
    return all;
}

}  // namespace

TEST_CASE("an option goes with the kinds that use it, and with no other") {
    const auto lines = describe::analysis_option_lines();
    CHECK(lines.size() == changes().size() + 2);
    for (const auto& word : describe::analysis_words) {
        CAPTURE(word.name);
        CHECK(refused(word.value, [](Analysis&) {}).empty());
        for (const auto& [key, change] : changes()) {
            CAPTURE(key);
            const auto line = std::ranges::find(lines, key, &describe::AnalysisLine::key);
            REQUIRE(line != lines.end());
            const bool is_used = line->kinds.empty() || std::ranges::find(line->kinds, word.name) != line->kinds.end();
            const auto text = refused(word.value, change);
            CHECK_MESSAGE(text.empty() == is_used, text);
            if (!is_used) CHECK(text.find("s': insitu.a." + key + " is ") != std::string::npos);
            if (!is_used) CHECK(text.find(std::string(word.name) + " does not use it") != std::string::npos);
        }
    }
}

TEST_CASE("conditions that are none, and actions that would do nothing, are refused") {
    check_refused(
        K::statistics,
        [](Analysis& a) {
            a.condition = {"*/nan > 0", "*/nan >> 0"};
        },
        "insitu.a.condition is '*/nan >> 0': at character 7 '>>' is not <, <=, >, >=, == or !=, as in");
    check_refused(
        K::statistics, [](Analysis& a) { a.condition.assign(17, "x > 0"); }, "insitu.a.condition is a list of 17");
    check_refused(
        K::statistics, [](Analysis& a) { a.action = {Analysis::Action::stop}; },
        "action has no effect without a condition");
    check_refused(
        K::statistics,
        [](Analysis& a) {
            a.condition = {"x > 0"};
            a.action = {};
        },
        "insitu.a.action is empty");
    check_refused(
        K::statistics,
        [](Analysis& a) {
            a.condition = {"x > 0"};
            a.action = {Analysis::Action::stop, Analysis::Action::stop};
        },
        "insitu.a.action is stop, stop: mark, save, stop, tell, each once");
}

TEST_CASE("a value that its line excludes is refused by its name") {
    check_refused(
        K::statistics, [](Analysis& a) { a.kind = static_cast<K>(40); }, "insitu.a.kind is number 40: stat");
    check_refused(
        K::statistics, [](Analysis& a) { a.variables = {}; }, "insitu.a.variables is empty");
    check_refused(
        K::statistics,
        [](Analysis& a) {
            a.variables = {"x", ""};
        },
        "insitu.a.variables is ''");
    check_refused(
        K::statistics, [](Analysis& a) { a.variables = {"*****"}; }, "'*****'");
    check_refused(
        K::statistics, [](Analysis& a) { a.variables = {"x\x1b[2J"}; }, "\\x1b");
    check_refused(
        K::statistics, [](Analysis& a) { a.variables = {std::string(256, 'x')}; }, "insitu.a.variables");
    check_refused(
        K::statistics, [](Analysis& a) { a.every = 0; }, "insitu.a.every is 0: 1 or more.");
    check_refused(
        K::histogram, [](Analysis& a) { a.bins = 0; }, "insitu.a.bins is 0: from 1 to 65536.");
    check_refused(
        K::histogram, [](Analysis& a) { a.bins = 65'537; }, "insitu.a.bins is 65537");
    check_refused(
        K::histogram_2d, [](Analysis& a) { a.bins = 4097; }, "histogram_2d needs 1 to 4096");
    check_refused(
        K::histogram, [](Analysis& a) { a.low = a.high = 2; }, "insitu.a.range is [2, 2]");
    check_refused(
        K::slice, [](Analysis& a) { a.high = infinity; }, "insitu.a.range is [nan, inf]");
    check_refused(
        K::slice, [](Analysis& a) { a.low = -infinity; }, "insitu.a.range is [-inf, nan]");
    check_refused(
        K::slice, [](Analysis& a) { a.axis = 8; }, "insitu.a.axis is 8: from 0 to 7.");
    check_refused(
        K::density, [](Analysis& a) { a.axis = 3; }, "density takes 0 for x");
    check_refused(
        K::slice, [](Analysis& a) { a.axis = -1; }, "insitu.a.axis is -1");
    check_refused(
        K::slice, [](Analysis& a) { a.at = -2; }, "insitu.a.at is -2: -1 or more.");
    check_refused(
        K::slice, [](Analysis& a) { a.pixels = 15; }, "insitu.a.pixels is 15: from 16 to 8192.");
    check_refused(
        K::slice, [](Analysis& a) { a.pixels = 8193; }, "insitu.a.pixels is 8193");
    check_refused(
        K::slice, [](Analysis& a) { a.palette = static_cast<Palette>(4); }, "insitu.a.palette is number 4");
    check_refused(
        K::downsample, [](Analysis& a) { a.factor = 0; }, "insitu.a.factor is 0: 1 or more.");
    check_refused(
        K::halos, [](Analysis& a) { a.members = 1; }, "insitu.a.members is 1: 2 or more.");
    check_refused(
        K::script, [](Analysis& a) { a.script = ""; }, "insitu.a.script is missing: give the file");
    check_refused(
        K::script, [](Analysis& a) { a.script = std::string(1025, 'x'); }, "a file of at most 1024 bytes");
    check_refused(
        K::script, [](Analysis& a) { a.python = "x\n"; }, "insitu.a.python is 'x\\x0a': a program of at most");
    check_refused(
        K::script, [](Analysis& a) { a.time_limit = 0ms; },
        "insitu.a.time_limit_seconds is 0: a number of seconds above 0.");
    check_refused(
        K::script, [](Analysis& a) { a.memory_limit_bytes = -1; }, "insitu.a.memory_limit_bytes is -1: 0 or more.");
    check_refused(
        K::script, [](Analysis& a) { a.variables = {"x"}; }, "insitu.a.variables is [\"x\"]: script does not use it.");
}

TEST_CASE("a list, a range or a length that its line excludes is refused by its name") {
    for (const auto length : {0.0, -1.0, infinity, std::nan("")}) {
        check_refused(
            K::halos, [&](Analysis& a) { a.linking_length = length; }, "insitu.a.linking_length is ");
        check_refused(
            K::spectrum,
            [&](Analysis& a) {
                a.length = {1, length, 1};
            },
            "insitu.a.length is ");
    }
    for (const auto kind : {K::density, K::spectrum, K::halos})
        check_refused(
            kind, [](Analysis& a) { a.length.assign(2, 1); }, "insitu.a.length has 2 numbers");
    CHECK(refused(K::slice, [](Analysis& a) { a.length.assign(8, 1); }).empty());
    check_refused(
        K::spectrum, [](Analysis& a) { a.length.assign(9, 1); }, "insitu.a.length is ");
    for (const auto& points : std::vector<std::vector<std::vector<std::int64_t>>>{
             {{}}, {{0, -1}}, {{1, 2}, {1}}, {{1, 1, 1, 1, 1, 1, 1, 1, 1}}})
        check_refused(
            K::probe, [&](Analysis& a) { a.points = points; }, "insitu.a.points is ");
}

TEST_CASE("options that do not go together are refused") {
    for (const auto& [low, high] : {std::pair(0.0, 1.0), std::pair(-1.0, std::nan("")), std::pair(std::nan(""), 0.0)})
        check_refused(
            K::histogram, [l = low, h = high](Analysis& a) { a.log = true, a.low = l, a.high = h; }, "with log");
    CHECK(refused(K::histogram, [](Analysis& a) { a.log = true, a.low = 1e-30; }).empty());
    for (const auto kind : {K::density, K::halos})
        check_refused(
            kind, [](Analysis& a) { a.length = {}; }, "insitu.a.length is missing");
    check_refused(
        K::probe, [](Analysis& a) { a.points = {}; }, "insitu.a.points is empty");
    const auto of = [](std::size_t count) { return [count](Analysis& a) { a.variables.assign(count, "x"); }; };
    check_refused(K::histogram_2d, of(1), "histogram_2d of 2, not 1");
    check_refused(K::histogram_2d, of(3), "histogram_2d of 2, not 3");
    check_refused(K::density, of(5), "density of 3 or 4, not 5");
    check_refused(K::halos, of(4), "halos of 3 or 6 or 7, not 4");
    for (const std::size_t count : {3, 6, 7}) CHECK(refused(K::halos, of(count)).empty());
    check_refused(
        K::density, [](Analysis& a) { a.variables[1] = "gas/*"; }, "'gas/*' is a pattern");
}

TEST_CASE("results have a stream of their own, of a name that streams may have") {
    for (const auto* name : {"", "a.b", "a/b", "a\nb"}) {
        CAPTURE(name);
        CHECK_FALSE(refused(K::statistics, [&](Analysis& a) { a.name = name; }).empty());
    }
    const auto longest = [](Analysis& a) { a.name = std::string(200, 'n'); };
    CHECK(refused(K::statistics, longest, std::string(54, 's')).empty());
    CHECK_FALSE(refused(K::statistics, longest, std::string(55, 's')).empty());
    CHECK(describe::result_stream("s", working(K::slice)) == "s.a");
    CHECK(check_values("s", {working(K::slice), working(K::halos)})
              .error()
              .text()
              .find("two analyses have the name 'a'") != std::string::npos);

    const StreamOptions analysed{.insitu = {working(K::slice)}};
    CHECK(describe::check_result_streams({{"s", analysed}, {"t", analysed}, {"a", {}}, {"s.b", {}}}));
    const auto taken = describe::check_result_streams({{"s.a", {}}, {"s", analysed}});
    REQUIRE_FALSE(taken);
    CHECK(taken.error().what == "stream 's.a' has the same name as the results of analysis 'a' of stream 's'");
}

TEST_CASE("each option that is changed is told to the other ranks by its name and value") {
    StreamOptions options{.insitu = {working(K::slice)}};
    options.insitu.front().condition = {"a > 1"};  // an action needs a condition
    const auto before = describe::settings_of(options);
    const auto refusal = [&](const std::function<void(Analysis&)>& change) {
        auto changed = options;
        change(changed.insitu.front());
        const auto after = describe::settings_of(changed);
        REQUIRE(after.size() == before.size());
        return *std::ranges::mismatch(before, after).in2;
    };
    for (const auto& [key, change] : changes()) CHECK(refusal(change).name == "insitu.a." + key);
    CHECK(refusal([](Analysis& a) { a.kind = K::halos; }).value == "halos");
    CHECK(refusal([](Analysis& a) { a.variables = {"a, b"}; }).value != refusal([](Analysis& a) {
                                                                            a.variables = {"a", "b"};
                                                                        }).value);
    CHECK(refusal([](Analysis& a) { a.low = 0.5, a.high = 1e30; }).value == "[0.5, 1e+30]");
    CHECK(refusal([](Analysis& a) { a.points = {{1, 2}, {3, 4}}; }).value == "[[1, 2], [3, 4]]");
    CHECK(describe::settings_of(options) == before);  // two NaN count as equal
    CHECK(settings_of(std::vector<Analysis>{}).empty());
}

TEST_CASE("the guide's table has a row for each option: its values, default, kinds and meaning") {
    const auto rows = test::rows_of_guide("configuration.md", "## In-situ analyses");
    const auto lines = describe::analysis_option_lines();
    for (const auto& line : lines) {
        CAPTURE(line.key);
        const auto row = std::ranges::find_if(rows, [&](const auto& cells) { return cells.at(0) == line.key; });
        REQUIRE(row != rows.end());
        REQUIRE(row->size() == 5);
        CHECK(row->at(1) == line.values);
        CHECK(row->at(2) == line.by_default);
        std::string kinds;
        for (const auto& kind : line.kinds) kinds += (kinds.empty() ? "" : ", ") + kind;
        CHECK(row->at(3) == (kinds.empty() ? "all" : kinds));
        CHECK_MESSAGE(row->at(4).starts_with(line.meaning), row->at(4));
    }
    CHECK(rows.size() == lines.size());
}
