// Goal: a downsample has the means of its boxes, also at edges, with the same bits for any cut, nodes and order.
// Method: random values against long double, in 1 to 7 cuts and nodes; whole numbers exactly.

#include <doctest/doctest.h>

#include <cmath>

#include "support/cut_world.hpp"

using namespace forebay;
using namespace forebay::insitu;

namespace {

template <class T, class Mean>
void check_means(std::uint64_t seed, double relative_error) {
    std::mt19937_64 random(seed);
    for (int round = 0; round < 60; ++round) {
        Variable variable{.name = "u", .type = type_of<T>(), .kind = Kind::array};
        const int dims = 1 + round % 4;
        for (int dim = 0; dim < dims; ++dim) variable.shape.push_back(1 + random() % 14);
        std::vector<T> values(variable.elements());
        for (auto& value : values) value = static_cast<T>(static_cast<double>(random() >> 40) * 0x1p-18);
        const int factor = 1 + static_cast<int>(random() % 6);
        const Analysis analysis{.name = "mean", .kind = Analysis::Kind::downsample, .factor = factor};

        Extents cells, lo;
        for (int dim = 0; dim < dims; ++dim) {
            const auto step = static_cast<std::uint64_t>(factor);
            cells.push_back((variable.shape[dim] + step - 1) / step);
            lo.push_back(0);
        }
        std::vector<long double> sums(volume(cells));
        std::vector<int> counts(volume(cells));
        const Box box{lo, variable.shape};
        for_each_line(insitu::Elements{{}, 0, values.size(), box}, [&](const ArrayLine& line) {
            for (std::uint64_t i = 0; i < line.count; ++i) {
                auto at = line.at;
                at[dims - 1] += i;
                for (int dim = 0; dim < dims; ++dim) at[dim] /= static_cast<std::uint64_t>(factor);
                sums[place_in(cells, at)] += static_cast<long double>(values[line.first + i]);
                ++counts[place_in(cells, at)];
            }
        });

        const CutWorld world(variable, bytes_of_values(values));
        const auto once = world.made(analysis, world.blocks(0, random), 1, random).value();
        CHECK(once.variables[0].name == "u/mean");
        CHECK(once.variables[0].type == type_of<Mean>());
        CHECK(once.variables[0].shape == cells);
        const auto means = values_of<Mean>(once.variables[0]);
        REQUIRE(means.size() == sums.size());
        for (std::size_t i = 0; i < means.size(); ++i) {
            const auto expected = static_cast<double>(sums[i] / counts[i]);
            CHECK(std::abs(static_cast<double>(means[i]) - expected) <= std::abs(expected) * relative_error);
        }
        for (int cut = 1; cut < 5; ++cut) {
            const auto again = world.made(analysis, world.blocks(2 * cut, random), 1 + random() % 7, random).value();
            CHECK(again.variables[0].bytes == once.variables[0].bytes);
        }
    }
}

}  // namespace

TEST_CASE("means of boxes, the same bits however the array is cut") {
    check_means<float, float>(51, 0x1p-23);
    check_means<double, double>(52, 0x1p-52);
    check_means<std::uint16_t, double>(53, 0x1p-52);
}

TEST_CASE("a box of which nothing is there is NaN, others have the mean of what is there") {
    std::mt19937_64 random(54);
    const Variable variable{.name = "u", .type = f32, .kind = Kind::array, .shape = {6}};
    const Analysis analysis{.name = "mean", .kind = Analysis::Kind::downsample, .factor = 2};
    const CutWorld world(variable, bytes_of_values<float>({1, 2, 3, 4, 5, 6}));
    const auto result = world.made(analysis, {Box{{0}, {3}}}, 2, random).value();
    const auto means = values_of<float>(result.variables[0]);
    CHECK(means[0] == 1.5f);
    CHECK(means[1] == 3);
    CHECK(std::isnan(means[2]));
    const auto& others = result.variables[0].attributes.others;
    REQUIRE(others.size() == 2);
    CHECK(std::get<std::int64_t>(others[0].second) == 2);
    CHECK(std::get<std::int64_t>(others[1].second) == 3);
}

TEST_CASE("what has no means and damaged parts are refused") {
    std::mt19937_64 random(55);
    Variable variable{.name = "u", .type = c128, .kind = Kind::array, .shape = {400, 400, 400}};
    Analysis analysis{.name = "mean", .kind = Analysis::Kind::downsample, .factor = 4};
    CHECK_FALSE(make_analyser(analysis, {&variable, 1}));
    variable.type = f32;
    CHECK(make_analyser(analysis, {&variable, 1}));
    for (const int factor : {0, -1, 102}) {
        analysis.factor = factor;
        CHECK_FALSE(make_analyser(analysis, {&variable, 1}));
    }
    variable.shape = {5, 3};
    CHECK(make_analyser(analysis, {&variable, 1}));
    analysis.factor = 2;
    const CutWorld world(variable, bytes_of_values(std::vector<float>(15, 1.5f)));
    const auto analyser = make_analyser(analysis, {&variable, 1}).value();
    for (const auto& block : world.blocks(3, random)) world.give(*analyser, block, random);
    const auto part = analyser->part();
    CHECK(taken_beginnings(analysis, variable, part, random) == 0);
    const auto whole = make_analyser(analysis, {&variable, 1}).value();
    REQUIRE(whole->merge(part));
    REQUIRE(whole->merge(part));
    CHECK_FALSE(whole->make({}));
}
