// Goal: statistics and histograms give the documented results for each real type, in the variable's unit, from one node
// or several. Variables that are not numbers are refused.
// Method: variables of each type with its extremes; results by name; nodes joined by part() and merge().

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "insight/insitu/operators/makers.hpp"
#include "support/cut_world.hpp"
#include "support/refused.hpp"

namespace forebay::insitu {
namespace {

Variable variable_of(Type type) {
    Variable variable;
    variable.name = "fields/u";
    variable.type = type;
    variable.kind = Kind::array;
    variable.shape = {4};
    variable.attributes.unit = "K";
    return variable;
}

Analysis analysis_of(Analysis::Kind kind) {
    Analysis analysis;
    analysis.name = "test";
    analysis.kind = kind;
    analysis.bins = 4;
    return analysis;
}

template <class T>
void take(Analyser& analyser, std::span<const T> values, int columns = 1) {
    const Box box{{0}, {values.size()}};
    const std::vector<std::span<const std::byte>> same(static_cast<std::size_t>(columns), std::as_bytes(values));
    analyser.take({same, 0, values.size(), box, 0});
}

const FoundVariable& found(const Made& outcome, const std::string& name) {
    const auto result = std::ranges::find(outcome.variables, name, &FoundVariable::name);
    REQUIRE_MESSAGE(result != outcome.variables.end(), name);
    return *result;
}

template <class T>
T scalar(const Made& outcome, const std::string& name) {
    const auto& result = found(outcome, name);
    REQUIRE(result.type == type_of<T>());
    REQUIRE(result.shape.dims() == 0);
    REQUIRE(result.bytes.size() == sizeof(T));
    T value;
    std::memcpy(&value, result.bytes.data(), sizeof value);
    return value;
}

template <class T>
void check_type() {
    using Limits = std::numeric_limits<T>;
    const std::vector<T> values{Limits::lowest(), 1, 2, Limits::max()};
    const auto variable = variable_of(type_of<T>());
    auto analyser = make_analyser(analysis_of(Analysis::Kind::statistics), {&variable, 1}).value();
    take<T>(*analyser, values);
    const auto outcome = analyser->make({}).value();
    CHECK(scalar<T>(outcome, "fields/u/min") == Limits::lowest());
    CHECK(scalar<T>(outcome, "fields/u/max") == Limits::max());
    CHECK(scalar<std::uint64_t>(outcome, "fields/u/count") == 4);
    long double sum = 0;
    if constexpr (std::is_integral_v<T>)
        for (const T value : values) sum += static_cast<long double>(value);
    else sum = 3;  // plus the extremes, which cancel
    CHECK(scalar<double>(outcome, "fields/u/sum") == static_cast<double>(sum));
    CHECK(scalar<double>(outcome, "fields/u/mean") == static_cast<double>(sum / 4));
    CHECK(scalar<double>(outcome, "fields/u/variance") > 0);
    CHECK(found(outcome, "fields/u/mean").attributes.unit == "K");
    CHECK(found(outcome, "fields/u/variance").attributes.unit == "(K)^2");
    CHECK(found(outcome, "fields/u/count").attributes.unit.empty());
}

TEST_CASE("each type keeps its extremes") {
    check_type<float>();
    check_type<double>();
    check_type<std::int8_t>();
    check_type<std::int16_t>();
    check_type<std::int32_t>();
    check_type<std::int64_t>();
    check_type<std::uint8_t>();
    check_type<std::uint16_t>();
    check_type<std::uint32_t>();
    check_type<std::uint64_t>();
}

TEST_CASE("halves are given as floats") {
    const std::vector<std::uint16_t> halves{0x3C00, 0xC000, 0x7C00, 0x7E00};  // 1, -2, infinity, NaN
    const auto variable = variable_of(f16);
    auto analyser = make_analyser(analysis_of(Analysis::Kind::statistics), {&variable, 1}).value();
    take<std::uint16_t>(*analyser, halves);
    const auto outcome = analyser->make({}).value();
    CHECK(scalar<float>(outcome, "fields/u/min") == -2);
    CHECK(scalar<float>(outcome, "fields/u/max") == 1);
    CHECK(scalar<std::uint64_t>(outcome, "fields/u/nan") == 1);
    CHECK(scalar<std::uint64_t>(outcome, "fields/u/inf") == 1);
}

TEST_CASE("elements that do not begin at a multiple of their size") {
    std::vector<std::byte> bytes(1 + 3 * sizeof(float));
    const float values[] = {1, 2, 6};
    std::memcpy(bytes.data() + 1, values, sizeof values);
    const auto variable = variable_of(f32);
    auto analyser = make_analyser(analysis_of(Analysis::Kind::statistics), {&variable, 1}).value();
    take<std::byte>(*analyser, std::span<const std::byte>(bytes).subspan(1));
    CHECK(scalar<double>(analyser->make({}).value(), "fields/u/mean") == 3);
}

TEST_CASE("nodes together find what one finds, and results have their names, types and shapes") {
    for (const auto kind : {Analysis::Kind::statistics, Analysis::Kind::histogram, Analysis::Kind::histogram_2d}) {
        const bool is_of_two = kind == Analysis::Kind::histogram_2d;
        const std::vector<Variable> variables(is_of_two ? 2 : 1, variable_of(f64));
        const auto make = [&] { return make_analyser(analysis_of(kind), variables).value(); };
        std::vector<double> values;
        for (int i = 0; i < 10000; ++i) values.push_back(std::sin(i) * i);
        auto item = make(), together = make();
        take<double>(*item, values, is_of_two ? 2 : 1);
        for (const std::size_t first : {6000, 0, 3000}) {
            auto node = make();
            take<double>(*node, std::span<const double>(values).subspan(first, first == 6000 ? 4000 : 3000),
                         is_of_two ? 2 : 1);
            const auto part = node->part();
            REQUIRE(together->merge(part));
            for (std::size_t size = 0; size < part.size(); size += 1 + size / 20) {
                const auto merged = together->merge(std::span(part).first(size));
                REQUIRE_FALSE(merged);
                REQUIRE(merged.error().kind == ErrorKind::corrupt);
            }
        }
        const auto expected = item->make({}).value().variables, results = together->make({}).value().variables;
        REQUIRE(expected.size() == results.size());
        for (std::size_t i = 0; i < results.size(); ++i) {
            CAPTURE(results[i].name);
            CHECK(results[i].name == expected[i].name);
            CHECK(results[i].bytes == expected[i].bytes);
            std::uint64_t elements = 1;
            for (int dim = 0; dim < results[i].shape.dims(); ++dim) elements *= results[i].shape[dim];
            CHECK(results[i].bytes.size() == elements * results[i].type.size_bytes);
        }
    }
}

// Mean and variance of each index by long doubles; exact, because the values are whole numbers.
template <class T>
void check_levels(std::mt19937_64& random, const Extents& shape, int by) {
    Variable variable = variable_of(type_of<T>());
    variable.shape = shape;
    std::vector<T> values(variable.elements());
    for (auto& value : values) value = static_cast<T>(random() % 100);
    auto analysis = analysis_of(Analysis::Kind::statistics);
    analysis.by = by;
    const CutWorld world(variable, bytes_of_values(values));
    const auto once = world.made(analysis, world.blocks(0, random), 1, random).value();
    for (int cut = 1; cut < 4; ++cut) {
        const auto again = world.made(analysis, world.blocks(2 * cut, random), 1 + random() % 4, random).value();
        for (std::size_t i = 0; i < once.variables.size(); ++i)
            CHECK_MESSAGE(again.variables[i].bytes == once.variables[i].bytes, once.variables[i].name);
    }
    std::uint64_t stride = 1;
    for (int dim = by + 1; dim < shape.dims(); ++dim) stride *= shape[dim];
    const auto means = values_of<double>(found(once, "fields/u/mean"));
    const auto variances = values_of<double>(found(once, "fields/u/variance"));
    CHECK(found(once, "fields/u/mean").shape == Extents{shape[by]});
    for (std::uint64_t level = 0; level < shape[by]; ++level) {
        long double sum = 0, squares = 0, count = 0;
        for (std::uint64_t i = 0; i < values.size(); ++i) {
            if (i / stride % shape[by] != level) continue;
            const auto value = static_cast<long double>(values[i]);
            sum += value;
            squares += value * value;
            ++count;
        }
        CHECK(means[level] == static_cast<double>(sum / count));
        CHECK(variances[level] == doctest::Approx(static_cast<double>((squares - sum * sum / count) / count)));
        CHECK(values_of<std::uint64_t>(found(once, "fields/u/count"))[level] == static_cast<std::uint64_t>(count));
    }
}

TEST_CASE("statistics of each index along a dimension, the same bits however the array is cut") {
    std::mt19937_64 random(51);
    for (int by = 0; by < 3; ++by) {
        CAPTURE(by);
        check_levels<float>(random, {7, 5, 12}, by);
        check_levels<double>(random, {7, 5, 12}, by);
        check_levels<std::uint8_t>(random, {3, 40, 2}, by);
        check_levels<std::int64_t>(random, {1, 6, 9}, by);
    }
    check_levels<double>(random, {11}, 0);
}

TEST_CASE("an index that no block holds has a count of 0; what has no such dimension is refused") {
    std::mt19937_64 random(52);
    Variable variable = variable_of(f32);
    variable.shape = {2, 3};
    auto analysis = analysis_of(Analysis::Kind::statistics);
    analysis.by = 1;
    const CutWorld world(variable, bytes_of_values<float>({1, 2, 3, 4, 5, 6}));
    const auto outcome = world.made(analysis, {Box{{0, 0}, {2, 2}}}, 2, random).value();
    CHECK(values_of<std::uint64_t>(found(outcome, "fields/u/count")) == std::vector<std::uint64_t>{2, 2, 0});
    CHECK(values_of<double>(found(outcome, "fields/u/sum")) == std::vector<double>{5, 7, 0});
    CHECK(std::isnan(values_of<double>(found(outcome, "fields/u/mean"))[2]));
    const auto analyser = make_analyser(analysis, {&variable, 1}).value();
    CHECK(taken_beginnings(analysis, variable, analyser->part(), random) == 0);

    analysis.by = 2;
    test::check_refused(make_analyser(analysis, {&variable, 1}), {"fields/u", "dimension 2"});
    analysis.by = 0;
    variable.shape = {65'537, 1};
    test::check_refused(make_analyser(analysis, {&variable, 1}), {"fields/u", "65536"});
    variable.kind = Kind::particles;
    test::check_refused(make_analyser(analysis, {&variable, 1}), {"fields/u", "not an array"});
}

TEST_CASE("the names of histograms") {
    const std::vector<Variable> variables(2, variable_of(f64));
    const std::vector<double> values{1, 2, 3, NAN};
    auto histogram = make_analyser(analysis_of(Analysis::Kind::histogram), std::span(variables).first(1)).value();
    take<double>(*histogram, values);
    const auto outcome = histogram->make({}).value();
    CHECK(found(outcome, "fields/u/counts").shape == Extents{4});
    CHECK(found(outcome, "fields/u/edges").shape == Extents{5});
    CHECK(found(outcome, "fields/u/edges").attributes.unit == "K");
    CHECK(scalar<std::uint64_t>(outcome, "fields/u/below") == 0);
    CHECK(scalar<std::uint64_t>(outcome, "fields/u/above") == 0);
    CHECK(scalar<std::uint64_t>(outcome, "fields/u/nan") == 1);
    auto pairs = make_analyser(analysis_of(Analysis::Kind::histogram_2d), variables).value();
    take<double>(*pairs, values, 2);
    const auto of_pairs = pairs->make({}).value();
    CHECK(found(of_pairs, "fields/u.fields/u/counts").shape == Extents{4, 4});
    CHECK(found(of_pairs, "fields/u.fields/u/x_edges").shape == Extents{5});
    CHECK(found(of_pairs, "fields/u.fields/u/y_edges").shape == Extents{5});
    CHECK(found(of_pairs, "fields/u.fields/u/y_edges").attributes.unit == "K");
    CHECK(found(of_pairs, "fields/u.fields/u/y_edges").attributes.description == "fields/u");
    CHECK(scalar<std::uint64_t>(of_pairs, "fields/u.fields/u/outside") == 1);
}

TEST_CASE("what is not a real number is refused") {
    for (const auto type : {c64, c128, string_of(5)})
        for (const auto kind : {Analysis::Kind::statistics, Analysis::Kind::histogram, Analysis::Kind::histogram_2d}) {
            const std::vector<Variable> variables(2, variable_of(type));
            test::check_refused(make_analyser(analysis_of(kind), variables), {"fields/u", name_of(type)});
        }
}

}  // namespace
}  // namespace forebay::insitu
