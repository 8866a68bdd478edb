// Goal: a probe has exactly the bytes of its points, in their order, for any cut and nodes. Points outside and damaged
// parts are refused.
// Method: random bytes and points, in 1 to 7 cuts and nodes.

#include <doctest/doctest.h>

#include <cmath>

#include "support/cut_world.hpp"

using namespace forebay;
using namespace forebay::insitu;

TEST_CASE("a probe has the values of its points") {
    std::mt19937_64 random(31);
    for (int round = 0; round < 80; ++round) {
        const Type types[] = {f64, i32, c64, string_of(3)};
        Variable variable{.name = "u", .type = types[round % 4], .kind = Kind::array};
        for (int dim = 0; dim < 1 + round % 4; ++dim) variable.shape.push_back(1 + random() % 8);
        const auto size = variable.type.size_bytes;
        std::vector<std::byte> bytes(variable.elements() * size);
        for (auto& byte : bytes) byte = static_cast<std::byte>(random());
        Analysis analysis{.name = "at", .kind = Analysis::Kind::probe};
        std::vector<std::byte> expected;
        for (std::uint64_t i = 0; i < 1 + random() % 12; ++i) {
            std::vector<std::int64_t> point;
            Extents at;
            for (int dim = 0; dim < variable.shape.dims(); ++dim) {
                at.push_back(random() % variable.shape[dim]);
                point.push_back(static_cast<std::int64_t>(at[dim]));
            }
            analysis.points.push_back(point);
            const auto place = static_cast<std::ptrdiff_t>(place_in(variable.shape, at) * size);
            expected.insert(expected.end(), bytes.begin() + place, bytes.begin() + place + size);
        }
        const CutWorld world(variable, bytes);
        const auto result =
            world.made(analysis, world.blocks(round % 8, random), 1 + static_cast<std::size_t>(round) % 7, random)
                .value();
        REQUIRE(result.variables.size() == 1);
        CHECK(result.variables[0].name == "u/values");
        CHECK(result.variables[0].type == variable.type);
        CHECK(result.variables[0].shape == Extents{analysis.points.size()});
        CHECK(result.variables[0].bytes == expected);
        CHECK(result.variables[0].attributes.others.size() == 1);
    }
}

TEST_CASE("points are named, and those that no block holds are NaN and counted") {
    std::mt19937_64 random(32);
    const Variable variable{.name = "u", .type = f32, .kind = Kind::array, .shape = {2, 3}};
    const Analysis analysis{.name = "at", .kind = Analysis::Kind::probe, .points = {{1, 2}, {0, 1}}};
    const CutWorld world(variable, bytes_of_values<float>({0, 1, 2, 3, 4, 5}));
    const auto result = world.made(analysis, {Box{{0, 0}, {1, 3}}}, 2, random).value();
    const auto values = values_of<float>(result.variables[0]);
    CHECK(std::isnan(values[0]));
    CHECK(values[1] == 1);
    const auto& others = result.variables[0].attributes.others;
    REQUIRE(others.size() == 2);
    CHECK(std::get<std::string>(others[0].second) == "[1, 2] [0, 1]");
    CHECK(std::get<std::int64_t>(others[1].second) == 1);
}

TEST_CASE("points that are not there and damaged parts are refused") {
    std::mt19937_64 random(33);
    const Variable variable{.name = "u", .type = f32, .kind = Kind::array, .shape = {2, 3}};
    for (const auto& points : std::vector<std::vector<std::vector<std::int64_t>>>{
             {}, {{1}}, {{1, 1, 0}}, {{2, 0}}, {{0, 3}}, {{0, -1}}, {{0, 0}, {-1, 0}}}) {
        const Analysis analysis{.name = "at", .kind = Analysis::Kind::probe, .points = points};
        const auto analyser = make_analyser(analysis, {&variable, 1});
        REQUIRE_FALSE(analyser);
        CHECK(analyser.error().kind == ErrorKind::refused);
    }
    const Analysis analysis{.name = "at", .kind = Analysis::Kind::probe, .points = {{1, 2}, {0, 1}, {0, 0}}};
    const CutWorld world(variable, bytes_of_values<float>({0, 1, 2, 3, 4, 5}));
    const auto analyser = make_analyser(analysis, {&variable, 1}).value();
    world.give(*analyser, Box{{0, 0}, {2, 3}}, random);
    CHECK(taken_beginnings(analysis, variable, analyser->part(), random) == 0);
}
