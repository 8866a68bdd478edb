// Goal: the application's calls decide the line of a save, alike on every rank.

#include "path/stage/lineage_policy.hpp"

#include <doctest/doctest.h>

using namespace forebay;
using format::LineStart;
using stage::LineagePolicy;
using Lines = std::vector<LineStart>;

namespace {

Lines save(LineagePolicy& lineage, std::int64_t step) {
    auto lines = lineage.lines_of(step);
    lineage.saved(step);
    return lines;
}

}  // namespace

TEST_CASE("nothing chosen: what lies below the first step is continued") {
    LineagePolicy lineage(4);
    CHECK(save(lineage, 10) == Lines{{{4, 0}, 9}});
    CHECK(save(lineage, 20) == Lines{{{4, 0}, 9}});
    CHECK(save(lineage, 5) == Lines{{{4, 0}, 9}});  // case numbers, in any order
    CHECK(save(lineage, 5) == Lines{{{4, 0}, 9}});
    LineagePolicy first(1);
    CHECK(save(first, 0) == Lines{{{1, 0}, -1}});
}

TEST_CASE("a restart goes on from what it chose, and nothing found begins anew") {
    LineagePolicy lineage(4);
    lineage.chose(300, {{{1, 0}, -1}, {{2, 0}, 100}});
    CHECK(lineage.lines_of(310) == Lines{{{1, 0}, -1}, {{2, 0}, 100}, {{4, 0}, 300}});
    CHECK(save(lineage, 310) == Lines{{{1, 0}, -1}, {{2, 0}, 100}, {{4, 0}, 300}});
    LineagePolicy anew(5);
    anew.chose_nothing();
    CHECK(save(anew, 10) == Lines{{{5, 0}, -1}});
}

TEST_CASE("the step that was restored, or one below it, saved anew: the line goes on from before it") {
    LineagePolicy lineage(4);
    lineage.chose(300, {{{1, 0}, -1}, {{2, 0}, 299}});
    CHECK(save(lineage, 300) == Lines{{{1, 0}, -1}, {{4, 0}, 299}});
    LineagePolicy below(4);
    below.chose(300, {{{1, 0}, -1}});
    CHECK(save(below, 50) == Lines{{{1, 0}, -1}, {{4, 0}, 49}});
}

TEST_CASE("a snapshot chosen between two saves begins another line, but the one that was saved last does not") {
    LineagePolicy lineage(4);
    const auto first = save(lineage, 10);
    save(lineage, 20);
    save(lineage, 30);
    lineage.chose(30, first);
    CHECK(save(lineage, 40) == first);
    lineage.chose(20, first);
    CHECK(save(lineage, 21) == Lines{{{4, 0}, 9}, {{4, 1}, 20}});
    lineage.chose(10, first);
    lineage.chose_nothing();  // older() found nothing more
    CHECK(save(lineage, 1) == Lines{{{4, 2}, -1}});
}

TEST_CASE("what is not admitted changes nothing, and the oldest starts are forgotten first") {
    LineagePolicy lineage(100);
    Lines many;
    for (std::uint32_t i = 1; i <= format::line_starts_max; ++i) many.push_back({{i, 0}, i});
    lineage.chose(1000, many);
    static_cast<void>(lineage.lines_of(2000));
    const auto lines = save(lineage, 1010);
    CHECK(lines.size() == format::line_starts_max);
    CHECK(lines.front().line.session == 2);
    CHECK(lines.back() == LineStart{{100, 0}, 1000});
}

TEST_CASE("a save is left behind by going back below it, or by beginning anew; before the first choice that is open") {
    LineagePolicy lineage(4);
    const format::Line before{3, 0}, own{4, 0};
    CHECK_FALSE(lineage.has_left(before, 10));
    lineage.chose(300, {{{3, 0}, -1}});
    CHECK_FALSE(lineage.has_left(before, 300).value());
    CHECK(lineage.has_left(before, 310).value());
    lineage.saved(310);
    CHECK_FALSE(lineage.has_left(own, 310).value());
    CHECK_FALSE(lineage.has_left(before, 300).value());
    CHECK(lineage.has_left(before, 310).value());
    lineage.chose(300, {{{3, 0}, -1}});
    CHECK(lineage.has_left(own, 310).value());
    LineagePolicy anew(5);
    anew.chose_nothing();
    CHECK(anew.has_left(own, 0).value());
}
