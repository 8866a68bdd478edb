// Goal: a projection is the sum along its dimension, with the same bits for any cut, nodes and order, within the bound
// of binned sums. Values that are not finite stay; missing elements are counted.
// Method: random values over wide ranges against long double, in 1 to 7 cuts and nodes; whole numbers exactly.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/cut_world.hpp"

using namespace forebay;
using namespace forebay::insitu;

namespace {

/// The sum of each line along `axis`, and the largest magnitude in it.
struct ExactSums {
    std::vector<long double> sums;
    std::vector<double> largest;
};

template <class T>
ExactSums sums_along(const Extents& shape, const std::vector<T>& values, int axis) {
    const auto plane = without(shape, axis);
    ExactSums exact{std::vector<long double>(volume(plane)), std::vector<double>(volume(plane))};
    Extents lo;
    for (int dim = 0; dim < shape.dims(); ++dim) lo.push_back(0);
    const Box box{lo, shape};
    for_each_line(insitu::Elements{{}, 0, volume(shape), box}, [&](const ArrayLine& line) {
        for (std::uint64_t i = 0; i < line.count; ++i) {
            auto at = line.at;
            at[shape.dims() - 1] += i;
            const auto cell = place_in(plane, without(at, axis));
            exact.sums[cell] += static_cast<long double>(values[line.first + i]);
            exact.largest[cell] = std::max(exact.largest[cell], std::abs(static_cast<double>(values[line.first + i])));
        }
    });
    return exact;
}

template <class T>
void check_projections(std::uint64_t seed, int exponents, double unit_error) {
    std::mt19937_64 random(seed);
    for (int round = 0; round < 60; ++round) {
        Variable variable{.name = "u", .type = type_of<T>(), .kind = Kind::array};
        const int dims = 2 + round % 3;
        for (int dim = 0; dim < dims; ++dim) variable.shape.push_back(1 + random() % 12);
        std::vector<T> values(variable.elements());
        for (auto& value : values) {
            const auto fraction = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63;
            value = static_cast<T>(
                std::ldexp(fraction, static_cast<int>(random() % static_cast<std::uint64_t>(exponents))));
        }
        const Analysis analysis{.name = "sum",
                                .kind = Analysis::Kind::projection,
                                .axis = round % dims,
                                .picture = round % 8 == 0 && dims < 4};
        const CutWorld world(variable, bytes_of_values(values));
        const auto once = world.made(analysis, world.blocks(0, random), 1, random).value();
        const auto exact = sums_along(variable.shape, values, analysis.axis);
        const auto sums = values_of<double>(once.variables[0]);
        REQUIRE(sums.size() == exact.sums.size());
        const auto terms = static_cast<double>(variable.shape[analysis.axis]);
        for (std::size_t i = 0; i < sums.size(); ++i)
            CHECK(std::abs(static_cast<double>(sums[i] - exact.sums[i])) <= terms * exact.largest[i] * unit_error);
        CHECK(once.variables[0].shape == without(variable.shape, analysis.axis));
        CHECK(once.variables[0].attributes.others.size() == std::size_t{1} + (dims < 4 ? dims - 1 : 0));
        for (int cut = 1; cut < 5; ++cut) {
            const auto again = world.made(analysis, world.blocks(2 * cut, random), 1 + random() % 7, random).value();
            CHECK(again.variables[0].bytes == once.variables[0].bytes);
            CHECK(again.pictures.size() == once.pictures.size());
            for (std::size_t i = 0; i < again.pictures.size(); ++i)
                CHECK(again.pictures[i].png == once.pictures[i].png);
        }
    }
}

}  // namespace

TEST_CASE("sums along each dimension, the same bits however the array is cut") {
    check_projections<float>(41, 100, 0x1p-32);
    check_projections<double>(42, 100, 0x1p-52);
    check_projections<std::int32_t>(43, 30, 0);
    check_projections<std::uint8_t>(44, 7, 0);
    check_projections<std::int64_t>(45, 40, 0);
}

TEST_CASE("what is not finite stays, and what is not there is counted") {
    std::mt19937_64 random(46);
    const Variable variable{.name = "u", .type = f32, .kind = Kind::array, .shape = {2, 4}};
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Analysis analysis{.name = "sum", .kind = Analysis::Kind::projection};
    const CutWorld world(variable, bytes_of_values<float>({1, nan, infinity, infinity, 2, 3, -1, -infinity}));
    const auto result = world.made(analysis, world.blocks(3, random), 2, random).value();
    const auto sums = values_of<double>(result.variables[0]);
    CHECK(sums[0] == 3);
    CHECK(std::isnan(sums[1]));
    CHECK(sums[2] == infinity);
    CHECK(std::isnan(sums[3]));
    CHECK(result.pictures.size() == 1);

    const auto half = world.made(analysis, {Box{{1, 0}, {1, 3}}}, 2, random).value();
    CHECK(values_of<double>(half.variables[0]) == std::vector<double>{2, 3, -1, 0});
    const auto& others = half.variables[0].attributes.others;
    CHECK(std::get<std::int64_t>(others.at(1).second) == 5);
    CHECK(others.at(2).first == "across");
    CHECK(std::get<std::string>(others.at(2).second) == "axis 1");
}

TEST_CASE("what has no sum and damaged parts are refused") {
    std::mt19937_64 random(47);
    Variable variable{.name = "u", .type = c64, .kind = Kind::array, .shape = {4, 3, 2}};
    Analysis analysis{.name = "sum", .kind = Analysis::Kind::projection};
    CHECK_FALSE(make_analyser(analysis, {&variable, 1}));
    variable.type = string_of(4);
    CHECK_FALSE(make_analyser(analysis, {&variable, 1}));
    variable.type = f32;
    analysis.axis = -1;
    CHECK_FALSE(make_analyser(analysis, {&variable, 1}));
    analysis.axis = 0;
    variable.shape = {std::uint64_t{1} << 21, 2, 2};
    CHECK_FALSE(make_analyser(analysis, {&variable, 1}));
    variable.shape = {4, 3, 2};

    const CutWorld world(variable, bytes_of_values(std::vector<float>(24, 1.5f)));
    const auto analyser = make_analyser(analysis, {&variable, 1}).value();
    for (const auto& block : world.blocks(3, random)) world.give(*analyser, block, random);
    const auto part = analyser->part();
    CHECK(taken_beginnings(analysis, variable, part, random) == 0);
    const auto whole = make_analyser(analysis, {&variable, 1}).value();
    REQUIRE(whole->merge(part));
    CHECK_FALSE(whole->merge(part));
}
