// Goal: all analyses of a snapshot give the same bits for any cut into ranks and nodes and any order of parts. Damaged
// bytes never reach an operator. A failed analysis does not stop the others. Method: node files in memory of one global
// snapshot, cut along two dimensions for 1 to 8 ranks on 1 to 3 nodes.

#include "insight/insitu/work.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "support/cut_fields.hpp"

using namespace forebay;
using insitu::Work;
using test::CutFields;

namespace {

constexpr insitu::Moment moment{CutFields::step, 3.5};

std::vector<Analysis> all_kinds() {
    using enum Analysis::Kind;
    std::vector<Analysis> all(10);
    const auto of = [&](std::size_t i, Analysis::Kind kind, std::vector<std::string> variables) {
        all[i].name = "a" + std::to_string(i);
        all[i].kind = kind;
        all[i].variables = std::move(variables);
    };
    of(0, statistics, {"t", "u", "n", "gas/*"});
    of(1, histogram, {"t", "n", "gas/x"});
    of(2, histogram_2d, {"t", "u"});
    of(3, slice, {"t", "u", "n"});
    of(4, projection, {"t", "u"});
    of(5, downsample, {"t"});
    of(6, probe, {"t", "u", "n"});
    of(7, density, {"gas/x", "gas/y", "gas/z", "gas/m"});
    of(8, spectrum, {"t", "u"});
    of(9, halos, {"gas/x", "gas/y", "gas/z", "gas/vx", "gas/vy", "gas/vz", "gas/m"});
    all[6].points = {{0, 0, 0}, {23, 9, 11}, {12, 5, 6}};
    for (auto& analysis : all) analysis.length = {CutFields::length};
    all[4].axis = 2;
    all[7].pixels = 64;
    return all;
}

catalog::BlockReader reader_of(const std::vector<std::byte>& image) {
    return catalog::BlockReader::over(format::open_head(image, "slot").value(), image, "slot");
}

// Each node on its own; the parts join in the given order.
std::vector<insitu::AnalysisResults> analyse(const CutFields& cut, const std::vector<Analysis>& analyses,
                                             bool backwards = false) {
    std::vector<std::vector<insitu::TaskPart>> parts;
    for (std::uint32_t node = 0; node < cut.nodes; ++node) {
        const auto image = cut.node_file(node);
        auto work = Work::plan(analyses, CutFields::schema(), moment);
        work.see(reader_of(image)).value();
        CHECK(work.problems().empty());
        parts.push_back(work.parts());
    }
    if (backwards) std::ranges::reverse(parts);
    auto work = Work::plan(analyses, CutFields::schema(), moment);
    for (const auto& part : parts) work.merge(part);
    auto results = work.make();
    for (const auto& problem : work.problems()) FAIL_CHECK(problem);
    return results;
}

void check_equal(const std::vector<insitu::AnalysisResults>& actual,
                 const std::vector<insitu::AnalysisResults>& expected) {
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        REQUIRE(actual[i].variables.size() == expected[i].variables.size());
        for (std::size_t v = 0; v < actual[i].variables.size(); ++v) {
            CAPTURE(actual[i].analysis.name);
            CAPTURE(actual[i].variables[v].name);
            CHECK(actual[i].variables[v].name == expected[i].variables[v].name);
            CHECK(actual[i].variables[v].shape == expected[i].variables[v].shape);
            CHECK(actual[i].variables[v].bytes == expected[i].variables[v].bytes);
        }
        REQUIRE(actual[i].pictures.size() == expected[i].pictures.size());
        for (std::size_t p = 0; p < actual[i].pictures.size(); ++p)
            CHECK(actual[i].pictures[p].png == expected[i].pictures[p].png);
    }
}

template <class T>
T scalar(const std::vector<insitu::AnalysisResults>& results, const std::string& name) {
    for (const auto& result : results)
        for (const auto& variable : result.variables)
            if (variable.name == name && variable.bytes.size() == sizeof(T)) {
                T value;
                std::memcpy(&value, variable.bytes.data(), sizeof value);
                return value;
            }
    FAIL("no result " << name);
    return {};
}

Analysis statistics_of(std::vector<std::string> variables) {
    Analysis analysis;
    analysis.name = "means";
    analysis.variables = std::move(variables);
    return analysis;
}

}  // namespace

TEST_CASE("results are the same bits however the snapshot is cut, and in whatever order parts come") {
    const auto analyses = all_kinds();
    const CutFields whole;
    auto alone = Work::plan(analyses, CutFields::schema(), moment);
    const auto image = whole.node_file(0);
    alone.see(reader_of(image)).value();
    const auto expected = alone.make();
    REQUIRE(alone.problems() == std::vector<std::string>());
    REQUIRE(expected.size() == analyses.size());
    for (const std::uint32_t ranks : {1U, 2U, 3U, 5U, 8U})
        for (const int axis : {0, 1}) {
            const CutFields cut{ranks, (ranks + 2) / 3, axis, 1};
            INFO("ranks " << cut.ranks << ", nodes " << cut.nodes << ", cut along " << axis);
            check_equal(analyse(cut, analyses, ranks % 2 == 0), expected);
        }
}

TEST_CASE("what is found is that of the data") {
    const auto results = analyse({5, 3, 1, 1}, {statistics_of({"u", "n"})});
    const auto values = CutFields{}.values<double>("u");
    CHECK(scalar<double>(results, "u/min") == *std::ranges::min_element(values));
    CHECK(scalar<double>(results, "u/max") == *std::ranges::max_element(values));
    CHECK(scalar<double>(results, "u/mean") ==
          doctest::Approx(std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size())));
    const auto numbers = CutFields{}.values<std::int32_t>("n");
    CHECK(scalar<std::int32_t>(results, "n/max") == *std::ranges::max_element(numbers));
}

TEST_CASE("damaged bytes are looked at by nobody, and cost no analysis that does not need them") {
    auto image = CutFields{}.node_file(0);
    const auto head = format::open_head(image, "slot").value();
    const auto block = head.blocks[head.first_block[1]];  // of t
    image[block.offset_bytes + 100] ^= std::byte{1};
    const auto node = reader_of(image);
    auto work = Work::plan(std::vector{statistics_of({"t"})}, CutFields::schema(), moment);
    CHECK(work.see(node).error().kind == ErrorKind::corrupt);
    auto other = Work::plan(std::vector{statistics_of({"u"})}, CutFields::schema(), moment);
    CHECK(other.see(node));
}

TEST_CASE("an analysis that cannot be made costs itself alone, and says why") {
    const auto image = CutFields{}.node_file(0);
    auto bad = statistics_of({"temperature"});
    bad.name = "bad";
    auto clock = statistics_of({"dt"});
    clock.name = "clock";
    auto mixed = statistics_of({"t", "gas/x"});
    mixed.name = "mixed";
    mixed.kind = Analysis::Kind::histogram_2d;
    auto work = Work::plan(std::vector{bad, clock, mixed, statistics_of({"t"})}, CutFields::schema(), moment);
    REQUIRE(work.problems().size() == 3);
    CHECK(work.problems()[0].find("'bad'") != std::string::npos);
    CHECK(work.problems()[0].find("'temperature'") != std::string::npos);
    CHECK(work.problems()[1].find("replicated") != std::string::npos);
    CHECK(work.problems()[2].find("particles") != std::string::npos);
    REQUIRE(work.see(reader_of(image)));
    CHECK(work.make().size() == 1);
}

TEST_CASE("a variable that is not there costs the others of its analysis nothing, unless they belong together") {
    auto some = statistics_of({"t", "temperature", "u"});
    auto pair = statistics_of({"t", "u", "temperature"});
    pair.name = "pair";
    pair.kind = Analysis::Kind::histogram_2d;
    auto work = Work::plan(std::vector{some, pair}, CutFields::schema(), moment);
    const auto image = CutFields{}.node_file(0);
    REQUIRE(work.see(reader_of(image)));
    CHECK(work.problems().size() == 2);
    const auto result = work.make();
    REQUIRE(result.size() == 1);
    const auto has = [&](const char* name) {
        return std::ranges::count(result[0].variables, name, &insitu::FoundVariable::name) == 1;
    };
    CHECK(has("t/mean"));
    CHECK(has("u/mean"));
}

TEST_CASE("a part that a node lacks, or that is damaged, costs its analysis alone") {
    const auto image = CutFields{}.node_file(0);
    auto second = statistics_of({"u"});
    second.name = "second";
    const std::vector analyses{statistics_of({"t"}), second};
    auto seen = Work::plan(analyses, CutFields::schema(), moment);
    seen.see(reader_of(image)).value();
    auto parts = seen.parts();
    REQUIRE(parts.size() == 2);
    auto damaged = parts;
    damaged[0].bytes.pop_back();
    for (const auto& given : {std::vector{parts[1]}, damaged}) {
        auto work = Work::plan(analyses, CutFields::schema(), moment);
        work.merge(given);
        CHECK(work.problems().size() == 1);
        const auto results = work.make();
        REQUIRE(results.size() == 1);
        CHECK(results.front().analysis.name == "second");
    }
}

TEST_CASE("an analysis has its steps, and ends between two pieces when it is told to") {
    auto seldom = statistics_of({"t"});
    seldom.every = 50;
    CHECK(Work::plan(std::vector{seldom}, CutFields::schema(), moment).empty());
    seldom.every = 40;
    auto work = Work::plan(std::vector{seldom}, CutFields::schema(), moment);
    CHECK(!work.empty());
    const auto image = CutFields{}.node_file(0);
    CHECK(work.see(reader_of(image), [] { return false; }).error().kind == ErrorKind::retry);
}
