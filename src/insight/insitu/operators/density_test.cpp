// Goal: a density equals the sums particle by particle, to the bit, in any order and on any number of nodes.
// Method: particles of splitmix, seed 8, some outside the domain, against sums made here; weights for which rounding
// would depend on the order; pieces and parts in several orders; parts cut short at every byte and changed.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "core/base/splitmix.hpp"
#include "insight/insitu/analyser.hpp"
#include "insight/insitu/operators/cell_sums.hpp"

using namespace forebay;
using namespace forebay::insitu;

namespace {

double share_of(std::uint64_t i) { return static_cast<double>(splitmix(8, i) >> 11) * 0x1p-53; }

std::vector<Variable> columns_of(std::vector<Type> types) {
    const std::array names{"gas/x", "gas/y", "gas/z", "gas/mass"};
    std::vector<Variable> variables;
    for (std::size_t i = 0; i < types.size(); ++i)
        variables.push_back({.name = names[i], .type = types[i], .kind = Kind::particles});
    if (types.size() == 4) variables[3].attributes.unit = "kg";
    return variables;
}

Analysis analysis_of(std::vector<double> length, int axis, int pixels) {
    return {.name = "map",
            .kind = Analysis::Kind::density,
            .axis = axis,
            .length = std::move(length),
            .pixels = pixels,
            .picture = false};
}

using Row = std::array<double, 4>;

// Gives rows of f64 columns as one piece.
void give_rows(Analyser& analyser, std::span<const Row> rows, std::size_t columns) {
    std::array<std::vector<double>, 4> values;
    std::vector<std::span<const std::byte>> bytes;
    for (std::size_t i = 0; i < columns; ++i) {
        for (const auto& row : rows) values[i].push_back(row[i]);
        bytes.push_back(std::as_bytes(std::span<const double>(values[i])));
    }
    const Box box{{0}, {rows.size()}};
    analyser.take({.columns = bytes, .first = 0, .count = rows.size(), .box = box});
}

std::vector<Row> rows_of(std::size_t count, const std::array<double, 3>& lengths) {
    std::vector<Row> rows(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t dim = 0; dim < 3; ++dim) rows[i][dim] = (share_of(8 * i + dim) * 3 - 1) * lengths[dim];
        // Both signs and 40 powers of ten: any rounding on the way would show.
        rows[i][3] = (share_of(8 * i + 3) - 0.5) * std::pow(10.0, share_of(8 * i + 4) * 40 - 20);
    }
    return rows;
}

std::unique_ptr<Analyser> analyser_of(const Analysis& analysis, std::size_t columns) {
    return make_analyser(analysis, columns_of(std::vector<Type>(columns, f64))).value();
}

std::vector<double> density_of(const Made& result) {
    std::vector<double> density(result.variables[0].bytes.size() / sizeof(double));
    std::memcpy(density.data(), result.variables[0].bytes.data(), result.variables[0].bytes.size());
    return density;
}

std::uint64_t left_out_of(const Made& result) {
    std::uint64_t left_out = 0;
    std::memcpy(&left_out, result.variables[1].bytes.data(), sizeof left_out);
    return left_out;
}

}  // namespace

TEST_CASE("density: counts and weights of each cell, along each axis") {
    const std::array<double, 3> lengths{4, 2, 3};
    const auto rows = rows_of(3000, lengths);
    for (const int axis : {0, 1, 2}) {
        const std::size_t across = axis == 0 ? 1 : 0, up = axis == 2 ? 1 : 2;
        const auto longer = std::max(lengths[across], lengths[up]);
        const auto columns = static_cast<std::size_t>(std::round(12 * lengths[across] / longer));
        const auto lines = static_cast<std::size_t>(std::round(12 * lengths[up] / longer));
        std::vector<double> counts(columns * lines);
        std::vector<ExactSum> sums(columns * lines);
        for (const auto& row : rows) {
            const auto cell = [&](std::size_t dim, std::size_t cells) {
                const auto inside = row[dim] - lengths[dim] * std::floor(row[dim] / lengths[dim]);
                return static_cast<std::size_t>(inside / lengths[dim] * static_cast<double>(cells));
            };
            const auto at = cell(up, lines) * columns + cell(across, columns);
            counts[at] += 1;
            sums[at].add(row[3]);
        }
        const auto analysis = analysis_of({4, 2, 3}, axis, 12);
        const auto counted = analyser_of(analysis, 3);
        give_rows(*counted, rows, 3);
        const auto result = counted->make({}).value();
        REQUIRE(result.variables.size() == 2);
        CHECK(result.variables[0].name == "gas/density");
        CHECK(result.variables[0].shape == Extents{lines, columns});
        CHECK(result.variables[0].type == f64);
        CHECK(result.variables[1].name == "gas/left_out");
        CHECK(density_of(result) == counts);
        CHECK(left_out_of(result) == 0);
        const auto weighed = analyser_of(analysis, 4);
        give_rows(*weighed, rows, 4);
        const auto by_weight = weighed->make({}).value();
        CHECK(by_weight.variables[0].attributes.unit == "kg");
        std::vector<double> expected;
        for (const auto& sum : sums) expected.push_back(sum.rounded());
        CHECK(density_of(by_weight) == expected);
    }
}

TEST_CASE("density: positions outside are wrapped, those that are none are left out") {
    const auto nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
    const auto analyser = analyser_of(analysis_of({10}, 2, 10), 4);
    const std::vector<Row> rows{{0, 0, 0, 1},        {10, 10, 0, 2},      {-10, 20, 1e300, 4}, {-0.5, 9.5, 3, 8},
                                {nan, 0, 0, 100},    {0, 0, nan, 100},    {0, infinite, 0, 1}, {0, 0, 0, nan},
                                {0, 0, 0, infinite}, {-1e-300, 5, 0, 16}, {25, 1e-320, -3, 32}};
    give_rows(*analyser, rows, 4);
    const auto result = analyser->make({}).value();
    const auto density = density_of(result);
    CHECK(left_out_of(result) == 5);
    CHECK(density[0] == 7);
    CHECK(density[99] == 8);
    CHECK(density[50] == 16);
    CHECK(density[5] == 32);
    CHECK(std::get<double>(result.variables[0].attributes.others[0].second) == 1);
    CHECK(result.variables[0].attributes.others[0].first == "cell");
}

TEST_CASE("density: the same bits for any order of pieces and parts") {
    auto rows = rows_of(2000, {1, 1, 1});
    for (std::size_t i = 100; i < 107; ++i) rows[i][i % 3] = std::numeric_limits<double>::quiet_NaN();
    const auto analysis = analysis_of({1}, 0, 3);
    for (const std::size_t columns : {3, 4}) {
        const auto whole = analyser_of(analysis, columns);
        give_rows(*whole, rows, columns);
        const auto expected = density_of(whole->make({}).value());
        std::ranges::reverse(rows);
        for (const std::size_t piece : {1, 7, 1025}) {
            std::vector<std::unique_ptr<Analyser>> nodes;
            for (int node = 0; node < 3; ++node) nodes.push_back(analyser_of(analysis, columns));
            for (std::size_t first = 0; first < rows.size(); first += piece)
                give_rows(*nodes[first / piece % 3],
                          std::span<const Row>(rows).subspan(first, std::min(piece, rows.size() - first)), columns);
            for (const auto& order : {std::array{0, 1, 2}, std::array{2, 0, 1}}) {
                const auto all = analyser_of(analysis, columns);
                for (const auto node : order) REQUIRE(all->merge(nodes[static_cast<std::size_t>(node)]->part()));
                const auto result = all->make({}).value();
                CHECK(density_of(result) == expected);
                CHECK(left_out_of(result) == 7);
            }
        }
    }
}

TEST_CASE("cell sums: exact over the whole range of doubles") {
    const std::vector<double> numbers{
        1e308,  1,     -1e308, 0x1p-1074, -1,      0x1.8p-1022, 0.1,    1e-200,
        -1e200, 1e200, 0x1p63, 0x1p64,    -0x1p65, -0.0,        3e-308, 0x1.fffffffffffffp1023};
    ExactSum exact;
    CellSums sums(2);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        exact.add(numbers[i]);
        sums.add(1, numbers[i]);
        CHECK(sums.rounded()[1] == exact.rounded());
    }
    for (std::size_t i = 0; i + 1 < numbers.size(); ++i) sums.add(1, -numbers[i]);
    CHECK(sums.rounded() == std::vector<double>{0, numbers.back()});
    sums.add(1, numbers.back());
    CHECK(sums.rounded()[1] == std::numeric_limits<double>::infinity());
    // Two windows of equal or opposite sign, as for weights of similar size.
    ExactSum near_one;
    CellSums weights(1);
    for (std::uint64_t i = 0; i < 300; ++i) {
        const auto weight = share_of(1000 + i) - (i < 150 ? 0.8 : 0.2);
        near_one.add(weight);
        weights.add(0, weight);
        CHECK(weights.rounded()[0] == near_one.rounded());
    }
    CellSums single(1);
    single.add(0, -0x1p-1074);
    CHECK(single.rounded()[0] == -0x1p-1074);
}

TEST_CASE("density: what it cannot be made of is refused") {
    const auto refused = [](const Analysis& analysis, const std::vector<Variable>& variables) {
        const auto analyser = make_analyser(analysis, variables);
        return !analyser && analyser.error().kind == ErrorKind::refused;
    };
    const auto good = analysis_of({1}, 0, 8);
    const std::vector<Type> three(3, f32);
    CHECK_FALSE(refused(good, columns_of(three)));
    CHECK_FALSE(refused(good, columns_of({f32, f16, i64, u8})));
    CHECK(refused(good, columns_of({f32, f32})));
    CHECK(refused(good, columns_of({f32, c64, f32})));
    CHECK(refused(good, columns_of({f32, f32, f32, string_of(3)})));
    auto other_table = columns_of(three), array = columns_of(three);
    other_table[2].table = 1;
    array[0].kind = Kind::array;
    CHECK(refused(good, other_table));
    CHECK(refused(good, array));
    for (const auto& length : {std::vector<double>{}, {1, 2}, {0}, {1, -2, 3}})
        CHECK(refused(analysis_of(length, 0, 8), columns_of(three)));
    CHECK(refused(analysis_of({1}, 3, 8), columns_of(three)));
    CHECK(refused(analysis_of({1}, -1, 8), columns_of(three)));
    CHECK(refused(analysis_of({1}, 0, 0), columns_of(three)));
    CHECK(refused(analysis_of({1}, 0, 1 << 30), columns_of(three)));
}

TEST_CASE("density: damaged parts are refused, and crash nothing") {
    const auto rows = rows_of(40, {1, 1, 1});
    for (const std::size_t columns : {3, 4}) {
        const auto analysis = analysis_of({1}, 1, 4);
        const auto node = analyser_of(analysis, columns);
        give_rows(*node, rows, columns);
        const auto part = node->part();
        for (std::size_t size = 0; size < part.size(); ++size)
            CHECK(analyser_of(analysis, columns)->merge(std::span(part).first(size)).error().kind ==
                  ErrorKind::corrupt);
        for (std::size_t at = 0; at < part.size(); ++at)
            for (const auto flip : {0x01, 0x10, 0x80, 0xFF}) {
                auto damaged = part;
                damaged[at] ^= static_cast<std::byte>(flip);
                const auto all = analyser_of(analysis, columns);
                const auto merged = all->merge(damaged);
                if (!merged) CHECK(merged.error().kind == ErrorKind::corrupt);
                else CHECK(all->make({}).has_value());
            }
    }
}
