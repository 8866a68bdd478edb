// Goal: which line a save belongs to follows from what the application did, in the same way on every rank.

#include "path/stage/course.hpp"

#include <doctest/doctest.h>

using namespace forebay;
using format::LineStart;
using stage::Course;
using Lines = std::vector<LineStart>;

namespace {

Lines save(Course& course, std::int64_t step) {
    auto lines = course.lines_of(step);
    course.saved(step);
    return lines;
}

}  // namespace

TEST_CASE("nothing chosen: what lies below the first step is continued") {
    Course course(4);
    CHECK(save(course, 10) == Lines{{{4, 0}, 9}});
    CHECK(save(course, 20) == Lines{{{4, 0}, 9}});
    CHECK(save(course, 5) == Lines{{{4, 0}, 9}});  // numbers of cases, in any order
    CHECK(save(course, 5) == Lines{{{4, 0}, 9}});
    Course first(1);
    CHECK(save(first, 0) == Lines{{{1, 0}, -1}});
}

TEST_CASE("a restart goes on from what it chose, and nothing found begins anew") {
    Course course(4);
    course.chose(300, {{{1, 0}, -1}, {{2, 0}, 100}});
    CHECK(course.lines_of(310) == Lines{{{1, 0}, -1}, {{2, 0}, 100}, {{4, 0}, 300}});
    CHECK(save(course, 310) == Lines{{{1, 0}, -1}, {{2, 0}, 100}, {{4, 0}, 300}});
    Course anew(5);
    anew.chose_nothing();
    CHECK(save(anew, 10) == Lines{{{5, 0}, -1}});
}

TEST_CASE("the step that was restored, or one below it, saved anew: the line goes on from before it") {
    Course course(4);
    course.chose(300, {{{1, 0}, -1}, {{2, 0}, 299}});
    CHECK(save(course, 300) == Lines{{{1, 0}, -1}, {{4, 0}, 299}});
    Course below(4);
    below.chose(300, {{{1, 0}, -1}});
    CHECK(save(below, 50) == Lines{{{1, 0}, -1}, {{4, 0}, 49}});
}

TEST_CASE("a snapshot chosen between two saves begins another line, but the one that was saved last does not") {
    Course course(4);
    const auto first = save(course, 10);
    save(course, 20);
    save(course, 30);
    course.chose(30, first);
    CHECK(save(course, 40) == first);
    course.chose(20, first);
    CHECK(save(course, 21) == Lines{{{4, 0}, 9}, {{4, 1}, 20}});
    course.chose(10, first);
    course.chose_nothing();  // older() found nothing more
    CHECK(save(course, 1) == Lines{{{4, 2}, -1}});
}

TEST_CASE("what is not admitted changes nothing, and the oldest starts are forgotten first") {
    Course course(100);
    Lines many;
    for (std::uint32_t i = 1; i <= format::line_starts_max; ++i) many.push_back({{i, 0}, i});
    course.chose(1000, many);
    static_cast<void>(course.lines_of(2000));
    const auto lines = save(course, 1010);
    CHECK(lines.size() == format::line_starts_max);
    CHECK(lines.front().line.session == 2);
    CHECK(lines.back() == LineStart{{100, 0}, 1000});
}

TEST_CASE("a save is left behind by going back below it, or by beginning anew; before the first choice that is open") {
    Course course(4);
    const format::Line before{3, 0}, own{4, 0};
    CHECK_FALSE(course.has_left(before, 10));
    course.chose(300, {{{3, 0}, -1}});
    CHECK_FALSE(course.has_left(before, 300).value());
    CHECK(course.has_left(before, 310).value());
    course.saved(310);
    CHECK_FALSE(course.has_left(own, 310).value());
    CHECK_FALSE(course.has_left(before, 300).value());
    CHECK(course.has_left(before, 310).value());
    course.chose(300, {{{3, 0}, -1}});
    CHECK(course.has_left(own, 310).value());
    Course anew(5);
    anew.chose_nothing();
    CHECK(anew.has_left(own, 0).value());
}
