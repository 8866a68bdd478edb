// Goal: in a file without groups each name has one meaning, coordinates have the names of their dimensions, and arrays
// of several groups share only equal dimensions.
// Method: small schemas; the dimensions are planned as for a view with groups.

#include "insight/outline/flat_names.hpp"

#include <doctest/doctest.h>

#include "support/view_sample.hpp"

using namespace forebay;
using namespace forebay::outline;

namespace {

struct Flat {
    std::vector<std::string> variables;
    std::vector<std::vector<std::string>> dimensions;  // of each variable
    std::size_t count = 0;                             // of dimensions
};

/// `grid` is given to the dimensions of these paths before they are flattened.
Flat flat(const std::vector<Variable>& variables, const std::vector<std::string>& tables = {},
          const std::vector<std::pair<std::string, std::vector<double>>>& grids = {}) {
    const Schema schema{.stream = "s", .tables = tables, .variables = variables};
    const std::vector<std::uint64_t> rows(tables.size(), 5);
    auto dimensions = plan_dimensions(schema, rows);
    for (const auto& [path, grid] : grids)
        for (auto& dimension : dimensions.all)
            if (dimension.path == path) dimension.grid = grid;
    TakenNames taken;
    Flat result{.variables = flatten(schema, dimensions, taken), .dimensions = {}, .count = dimensions.all.size()};
    for (const auto& of : dimensions.of) {
        auto& names = result.dimensions.emplace_back();
        for (const auto d : of) names.push_back(dimensions.all[d].path);
    }
    return result;
}

using Words = std::vector<std::string>;

Variable line(const std::string& name, std::uint64_t length, const std::string& dimension) {
    return test::array_of(name, f32, {length}, {dimension});
}

}  // namespace

TEST_CASE("each name is given once, in the order of the variables") {
    const auto flattened = flat({line("a/b", 4, "n"), line("a_b", 4, "n"), line("a-b", 4, "n"), line("n", 4, "m")});
    CHECK(flattened.variables == Words{"a_b", "a_b_", "a_b__", "n"});
    CHECK(flattened.dimensions[0] == Words{"a_n"});  // n is a variable
    CHECK(flattened.dimensions[3] == Words{"m"});
}

TEST_CASE("arrays of several groups share a dimension of one name, length and grid") {
    const auto flattened = flat({line("a/u", 4, "x"), line("b/v", 4, "x"), line("c/w", 4, "y"), line("d/w", 5, "y")});
    CHECK(flattened.dimensions[0] == Words{"x"});
    CHECK(flattened.dimensions[1] == Words{"x"});
    CHECK(flattened.dimensions[2] == Words{"c_y"});
    CHECK(flattened.dimensions[3] == Words{"d_y"});
    CHECK(flattened.count == 3);
    const auto apart = flat({line("a/u", 4, "x"), line("b/v", 4, "x"), line("c/w", 4, "x")}, {},
                            {{"a/x", {0, 1, 2, 3}}, {"b/x", {0, 2, 4, 6}}, {"c/x", {0, 1, 2, 3}}});
    CHECK(apart.dimensions[0] == Words{"a_x"});
    CHECK(apart.dimensions[1] == Words{"b_x"});
    CHECK(apart.dimensions[2] == Words{"a_x"});
}

TEST_CASE("a coordinate is called as its dimension, which no other group shares") {
    const auto flattened = flat({line("a/u", 4, "x"), line("a/x", 4, "x")});
    CHECK(flattened.variables == Words{"a_u", "x"});
    CHECK(flattened.dimensions[0] == Words{"x"});
    const auto two = flat({line("a/x", 4, "x"), line("b/x", 4, "x"), line("c/u", 4, "x")});
    CHECK(two.variables == Words{"a_x", "b_x", "c_u"});
    CHECK(two.dimensions[2] == Words{"c_x"});
}

TEST_CASE("the rows of a table are its own") {
    const auto flattened = flat({test::column_of("gas/x", f32, 0), test::column_of("old/gas/x", f32, 1),
                                 test::column_of("dust/x", f32, 2), line("dust/size", 5, "n")},
                                {"gas", "old/gas", "dust"});
    CHECK(flattened.variables == Words{"gas_x", "old_gas_x", "dust_x", "dust_size"});
    CHECK(flattened.dimensions[0] == Words{"gas_gas"});
    CHECK(flattened.dimensions[1] == Words{"old_gas_gas"});
    CHECK(flattened.dimensions[2] == Words{"dust"});
    CHECK(flattened.dimensions[3] == Words{"n"});
}
