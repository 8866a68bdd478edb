// Goal: any element of a matching result can fulfil a condition, for every type. The mark holds the value farthest
// beyond the limit. A name without a result is a problem. Method: results made by hand.

#include "insight/insitu/judge.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "insight/insitu/found.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using insitu::FoundVariable;
using insitu::judge;

namespace {

const auto no_number = std::numeric_limits<double>::quiet_NaN();

Analysis with(std::vector<std::string> conditions) {
    Analysis analysis;
    analysis.name = "numbers";
    analysis.condition = std::move(conditions);
    return analysis;
}

const std::vector<double> values{1, no_number, 7, -5};
const std::vector<float> masses{2e15F, 1e16F};
const std::vector<FoundVariable> results{
    insitu::found_scalar<std::uint64_t>("theta/nan", 0, {}), insitu::found_scalar<std::uint64_t>("u/nan", 3, {}),
    insitu::found_list<double>("u/values", {4}, values, {}), insitu::found_list<float>("gas/mass", {2}, masses, {}),
    insitu::found_scalar<std::int8_t>("flag", -1, {})};

}  // namespace

TEST_CASE("any element of any result fulfils, and the one that says most is told") {
    const auto all = judge(with({"*/nan > 0", "*/nan > 3", "u/values < 0", "gas/mass > 1e15", "flag == -1"}), results);
    REQUIRE(all.fulfilled.size() == 4);
    CHECK(all.fulfilled[0] == format::Mark{"numbers", "*/nan > 0", "u/nan", 3});
    CHECK(all.fulfilled[1] == format::Mark{"numbers", "u/values < 0", "u/values", -5});
    CHECK(all.fulfilled[2].value == doctest::Approx(1e16));
    CHECK(all.fulfilled[3].result == "flag");
    CHECK(all.problems.empty());
    CHECK(insitu::lines_of(all).front() == "raise mark 3 numbers: */nan > 0 (u/nan is 3)");
}

TEST_CASE("results of a script are judged as any, and a flag is a condition that is fulfilled") {
    auto script = with({"u/* < 0"});
    script.kind = Analysis::Kind::script;
    script.action = {Analysis::Action::stop, Analysis::Action::mark};
    CHECK(insitu::lines_of(judge(script, results)) ==
          std::vector<std::string>{"raise mark,stop -5 numbers: u/* < 0 (u/values is -5)"});
    const auto flag = insitu::flagged(script, "odd", no_number, {Analysis::Action::tell, Analysis::Action::save});
    CHECK(insitu::lines_of(flag) == std::vector<std::string>{"raise save,tell nan numbers: odd"});
    CHECK(insitu::lines_of(insitu::flagged(script, "odd", 1, {})).empty());
}

TEST_CASE("what is said to the agent is a line each, whatever the results are called") {
    const auto judgement =
        judge(with({"* > 0", "\n == 1"}),
              std::vector{insitu::found_scalar<double>("a\nmade 7" + std::string(5000, 'x'), 1, {})});
    for (const auto& line : insitu::lines_of(judgement)) {
        CHECK(line.find('\n') == std::string::npos);
        CHECK(line.size() < 4096);
    }
    CHECK(insitu::lines_of(judgement).size() == 2);
}

TEST_CASE("a NaN fulfils != alone") {
    CHECK(judge(with({"u/values > 7"}), results).fulfilled.empty());
    CHECK(std::isnan(judge(with({"u/values != 1"}), results).fulfilled.at(0).value));
}

TEST_CASE("a name that no result has is a problem") {
    const auto none = judge(with({"v/* > 0"}), results);
    CHECK(none.fulfilled.empty());
    REQUIRE(none.problems.size() == 1);
    CHECK(none.problems[0] == "analysis 'numbers': no result matches condition 'v/* > 0'");
}

TEST_CASE("a mark that cannot be written is told with its condition and the next command, and asks for nothing else") {
    auto judgement = judge(with({"u/values > 0"}), results);
    REQUIRE(judgement.fulfilled.size() == 1);
    test::SimStore disk;
    insitu::mark_snapshot(disk, "run", {"fields", {7, 0.5}, 0xf3, 1}, judgement);  // this snapshot does not exist
    const auto lines = insitu::lines_of(judgement);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].starts_with(
        "problem step 7 of stream 'fields' is NOT marked, and counts as good: numbers: u/values > 0"));
    CHECK(lines[0].ends_with("Next: forebay mark run/fields@7"));
}
