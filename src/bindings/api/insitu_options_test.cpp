// Goal: analyses come from a configuration and from the text of a stream, with every option, in the order of the text.
// Errors are refused with their line or name. Results never share a stream with other data.
// Method: a table of each kind of values, right and wrong; a session whose streams take the name of results, and the
// reverse, on threads as ranks.

#include <doctest/doctest.h>

#include "bindings/api/state.hpp"
#include "core/describe/analysis_list.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

using namespace forebay;
using K = Analysis::Kind;

namespace {

std::string refusal(const Result<StreamOptions>& options) {
    REQUIRE_FALSE(options);
    CHECK(options.error().kind == ErrorKind::refused);
    return options.error().text();
}

void check_says(const std::string& text, const std::string& words) {
    CHECK_MESSAGE(text.find(words) != std::string::npos, text);
}

}  // namespace

TEST_CASE("every option of an analysis arrives, and what is left out is as it is by default") {
    const auto options = decode_options(R"(
[streams.state.insitu.zeta]
kind = "histogram"
variables = ["gas/*", "fields/u"]
every = 10
bins = 64
range = [1, 1e4]
log = true
[streams.state.insitu.cut]
kind = "slice"
variables = ["fields/u"]
axis = 2
at = 7
range = [-0.5, nan]
pixels = 512
picture = false
palette = "tide"
[streams.state.insitu]
few = { kind = "downsample", variables = ["fields/u"], factor = 8, condition = "*/mean > 3" }
at = { kind = "probe", variables = ["fields/u"], points = [[0, 1, 2], [3, 4, 5]] }
groups = { kind = "halos", variables = ["x", "y", "z"], length = 2, linking_length = 0.17, members = 32 }
power = { kind = "spectrum", variables = ["*"], length = [1, 2.5, 3] }
mean = { variables = ["*"], condition = ["*/nan > 0", "*/max >= 4"], action = ["stop", "mark"] }
)",
                                        "here.toml")
                             .value();
    const std::vector<Analysis> wanted{
        {.name = "zeta",
         .kind = K::histogram,
         .variables = {"gas/*", "fields/u"},
         .every = 10,
         .bins = 64,
         .low = 1,
         .high = 1e4,
         .log = true},
        {.name = "cut",
         .kind = K::slice,
         .variables = {"fields/u"},
         .low = -0.5,
         .axis = 2,
         .at = 7,
         .pixels = 512,
         .picture = false,
         .palette = Palette::tide},
        {.name = "few", .kind = K::downsample, .variables = {"fields/u"}, .factor = 8, .condition = {"*/mean > 3"}},
        {.name = "at", .kind = K::probe, .variables = {"fields/u"}, .points = {{0, 1, 2}, {3, 4, 5}}},
        {.name = "groups",
         .kind = K::halos,
         .variables = {"x", "y", "z"},
         .length = {2},
         .linking_length = 0.17,
         .members = 32},
        {.name = "power", .kind = K::spectrum, .variables = {"*"}, .length = {1, 2.5, 3}},
        {.name = "mean",
         .variables = {"*"},
         .condition = {"*/nan > 0", "*/max >= 4"},
         .action = {Analysis::Action::stop, Analysis::Action::mark}}};
    REQUIRE(options.streams.size() == 1);
    CHECK(describe::settings_of(options.streams[0].second.insitu) == describe::settings_of(wanted));
    CHECK(decode_options("[streams.state]\nslots = 1", "here.toml").value().streams[0].second.insitu.empty());
}

TEST_CASE("a value of the wrong kind, or a key that is not known, is refused with its line") {
    const auto with = [](const std::string& line) {
        return refusal(parse_stream_options("[insitu.a]\nvariables = [\"u\"]\n" + line));
    };
    check_says(with("bin = 3"), "line 3: 'insitu.a.bin' is not known. Nearest: 'insitu.a.bins'.");
    check_says(with("kind = \"mean\""), "line 3: 'insitu.a.kind' is \"mean\": one of \"statistics\", \"histogram\", ");
    check_says(with("kind = 1"), "line 3: 'insitu.a.kind' must be text.");
    check_says(with("bins = 0"), "line 3: 'insitu.a.bins' is 0, out of range: from 1 to 65536.");
    check_says(with("every = 1.5"), "line 3: 'insitu.a.every' must be a whole number.");
    check_says(with("log = 1"), "line 3: 'insitu.a.log' must be true or false.");
    check_says(with("linking_length = \"1\""), "line 3: 'insitu.a.linking_length' must be a number.");
    for (const auto* wrong : {"1", "[1]", "[1, 2, 3]", "[\"1\", 2]", "{ low = 1 }"})
        check_says(with("range = " + std::string(wrong)), "line 3: 'insitu.a.range' must be a list of two numbers.");
    for (const auto* wrong : {"[1, \"2\"]", "\"1\"", "true"})
        check_says(with("length = " + std::string(wrong)), "line 3: 'insitu.a.length' must be a number or a list");
    for (const auto* wrong : {"1", "[1]", "[[1], 2]", "[[1.5]]", "[[\"1\"]]"})
        check_says(with("points = " + std::string(wrong)), "line 3: 'insitu.a.points' must be a list of lists");
    for (const auto* wrong : {"1", "[1]", "{ a = 1 }"})
        check_says(with("condition = " + std::string(wrong)),
                   "line 3: 'insitu.a.condition' must be a text or a list of texts.");
    check_says(with("action = \"jump\""), "line 3: 'insitu.a.action' is \"jump\": one of mark, save, stop, tell, or a");
    check_says(refusal(parse_stream_options("insitu.a.variables = \"u\"")), "must be a list of texts.");
    check_says(refusal(parse_stream_options("insitu.a = 1")), "line 1: 'insitu.a' must be a table.");
    check_says(refusal(parse_stream_options("insitu = \"mean\"")), "line 1: 'insitu' must be a table.");
    const auto together = decode_options("[streams.s.insitu.a]\nkind = \"slice\"\nvariables = [\"u\"]\nbins = 4", "t");
    REQUIRE_FALSE(together);
    check_says(together.error().text(), "stream 's': insitu.a.bins is 4: slice does not use it.");
}

TEST_CASE("analyses that the agents could not be told of are refused before anything is opened") {
    StreamOptions options;
    for (int i = 0; i < 100; ++i)
        options.insitu.push_back({.name = "a" + std::to_string(i), .variables = {std::string(200, 'v')}});
    const auto refused = check("s", options);
    REQUIRE_FALSE(refused);
    check_says(refused.error().text(), "the analyses of stream 's' need ");
}

TEST_CASE("a stream that has the name of results is refused, whichever of the two is opened first") {
    const StreamOptions analysed{.insitu = {{.name = "mean", .variables = {"u"}}}};
    const test::TempDirectory folder;
    Options options{.run = folder / "run", .staging = folder.path()};
    options.agent.mode = AgentMode::thread;
    options.streams = {{"s", analysed}, {"s.mean", {}}};
    check_says(Session::open(options).error().text(),
               "stream 's.mean' has the same name as the results of analysis 'mean'");
    options.streams = {{"configured", analysed}};
    test::with_threads(2, [&](std::unique_ptr<comm::Group> world) {
        auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value();
        check_says(session.stream("configured.mean").error().text(), "of stream 'configured'");
        const auto first = session.stream("s", analysed).value();
        check_says(session.stream("s.mean").error().text(), "of analysis 'mean' of stream 's'");
        const auto other = session.stream("t.mean").value();
        check_says(session.stream("t", analysed).error().text(), "stream 't.mean' has the same name");
        session.stream("t").value();
        session.close().value();
    });
}
