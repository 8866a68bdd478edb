// Goal: valid conditions are read, and invalid conditions are refused with their place.
// Method: good and bad texts.

#include "core/describe/condition.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace forebay;
using describe::Comparison;
using describe::parse_condition;

namespace {

std::string refusal(const char* text) {
    const auto parsed = parse_condition(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::refused);
    return parsed.error().what;
}

}  // namespace

TEST_CASE("pattern, comparison, number; blanks mean nothing, and names may hold signs") {
    const auto mass = parse_condition("  gas/mass>1e15 ").value();
    CHECK(mass.pattern == "gas/mass");
    CHECK(mass.comparison == Comparison::greater);
    CHECK(mass.number == 1e15);
    CHECK(parse_condition("*/nan > 0").value().pattern == "*/nan");
    CHECK(parse_condition("theta/max >= -4.5").value().number == -4.5);
    CHECK(parse_condition("a<b/max <= inf").value().pattern == "a<b/max");
    CHECK(parse_condition("x y == 1").value().comparison == Comparison::equal);
    CHECK(parse_condition("x != 1").value().comparison == Comparison::unequal);
    CHECK(parse_condition("x < 1").value().comparison == Comparison::less);
}

TEST_CASE("what is none is refused, with the place and an example") {
    CHECK(refusal("*/nan") == "at character 6 one of <, <=, >, >=, ==, != is expected, as in \"*/nan > 0\"");
    CHECK(refusal("") == "at character 1 one of <, <=, >, >=, ==, != is expected, as in \"*/nan > 0\"");
    CHECK(refusal("x >> 0") == "at character 3 '>>' is not <, <=, >, >=, == or !=, as in \"*/nan > 0\"");
    CHECK(refusal("x = 0").starts_with("at character 3 '=' is not <, <="));
    CHECK(refusal("x ! 0").starts_with("at character 3 '!' is not <, <="));
    CHECK(refusal(" > 0").starts_with("at character 2 a name of a result"));
    CHECK(refusal("x >").starts_with("at character 4 a number is expected"));
    CHECK(refusal("x > 1 2").starts_with("at character 5 '1 2' is not a number"));
    CHECK(refusal("x > 1e999").starts_with("at character 5 '1e999' is not a number"));
    CHECK(refusal("x > y").starts_with("at character 5 'y' is not a number"));
    CHECK(refusal("x != nan").find("nothing is equal to nan") != std::string::npos);
    CHECK(refusal("a*b*c*d*e* > 1").starts_with("at character 1 a name, or a pattern with at most 4"));
    CHECK(refusal("a\nb > 1").starts_with("at character 1 a name"));
}

TEST_CASE("not a number fulfils != alone; of two values the one farther beyond the number counts") {
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    for (const char* text : {"x < 1", "x <= 1", "x > 1", "x >= 1", "x == 1"})
        CHECK_FALSE(parse_condition(text).value().holds(nan));
    CHECK(parse_condition("x != 1").value().holds(nan));
    CHECK(parse_condition("x >= 1").value().holds(1));
    CHECK_FALSE(parse_condition("x > 1").value().holds(1));
    CHECK(parse_condition("x <= 1").value().holds(1));
    CHECK_FALSE(parse_condition("x < 1").value().holds(1));
    CHECK(parse_condition("x == 1").value().holds(1));
    CHECK_FALSE(parse_condition("x != 1").value().holds(1));
    CHECK(parse_condition("x > 1").value().is_farther(3, 2));
    CHECK_FALSE(parse_condition("x > 1").value().is_farther(2, 3));
    CHECK(parse_condition("x < 1").value().is_farther(-3, -2));
    CHECK_FALSE(parse_condition("x != 1").value().is_farther(3, 2));
}
