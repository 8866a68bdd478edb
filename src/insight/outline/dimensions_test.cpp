// Goal: every dimension of every variable of a view has a name that netCDF and xarray accept, and no name has two
// lengths in sight of each other.

#include <doctest/doctest.h>

#include <set>

#include "insight/outline/dimensions.hpp"
#include "support/view_sample.hpp"

using namespace forebay;

namespace {

Schema schema_of(std::vector<Variable> variables, std::vector<std::string> tables = {}) {
    return {.stream = "s", .tables = std::move(tables), .variables = std::move(variables)};
}

std::vector<std::string> names(const outline::Dimensions& plan, std::size_t variable) {
    std::vector<std::string> paths;
    for (const auto d : plan.of[variable]) paths.push_back(plan.all[d].path);
    return paths;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("given names are kept and shared by variables of one group") {
    const auto plan = outline::plan_dimensions(
        schema_of({test::array_of("g/u", f32, {4, 6}, {"y", "x"}), test::array_of("g/v", f32, {6, 4}, {"x", "y"})}),
        {});
    CHECK(names(plan, 0) == Names{"g/y", "g/x"});
    CHECK(names(plan, 1) == Names{"g/x", "g/y"});
    CHECK(plan.all.size() == 2);
}

TEST_CASE("arrays without names get position and length, and share them with arrays of their shape") {
    const auto plan = outline::plan_dimensions(
        schema_of({test::array_of("u", f32, {4, 4}), test::array_of("v", f32, {4, 4}), test::value_of("m", f64, {2})}),
        {});
    CHECK(names(plan, 0) == Names{"dim0_4", "dim1_4"});
    CHECK(names(plan, 1) == names(plan, 0));
    CHECK(names(plan, 2) == Names{"dim0_2"});
}

TEST_CASE("a name never stands for two lengths where both are in sight") {
    const auto plan = outline::plan_dimensions(
        schema_of({test::array_of("u", f32, {4}, {"x"}), test::array_of("w", f32, {5}, {"x"}),
                   test::array_of("a/u", f32, {6}, {"x"}), test::array_of("ab/u", f32, {7}, {"n"}),
                   test::array_of("a/u2", f32, {8}, {"n"})}),
        {});
    CHECK(names(plan, 0) == Names{"x"});
    CHECK(names(plan, 1) == Names{"x_5"});
    CHECK(names(plan, 2) == Names{"a/x_6"});  // inside the root, with x = 4
    CHECK(names(plan, 3) == Names{"ab/n"});
    CHECK(names(plan, 4) == Names{"a/n"});  // n of a sibling group is out of sight
}

TEST_CASE("a variable has no dimension twice") {
    const auto plan = outline::plan_dimensions(schema_of({test::array_of("c", f32, {3, 3, 3}, {"x", "x", "x"})}), {});
    CHECK(names(plan, 0) == Names{"x", "x_3", "x_3_2"});
}

TEST_CASE("a 1-D variable of its dimension's name is the coordinate, wherever it is described") {
    const auto plan = outline::plan_dimensions(
        schema_of({test::array_of("f/u", f32, {7}, {"x"}), test::array_of("f/x", f64, {7}, {"x"})}), {});
    REQUIRE(plan.all.size() == 1);
    CHECK(plan.all[0].coordinate == 1);
    CHECK(names(plan, 0) == Names{"f/x"});
    CHECK(names(plan, 1) == Names{"f/x"});
}

TEST_CASE("a variable or a group of a dimension's name that is no coordinate keeps its name") {
    const auto plan = outline::plan_dimensions(
        schema_of({test::array_of("x", f64, {7, 2}, {"x", "y"}), test::array_of("z", c64, {7}, {"z"}),
                   test::array_of("g/u", f32, {3}), test::array_of("w", f32, {3}, {"g"})}),
        {});
    CHECK(names(plan, 0) == Names{"x_7", "y"});
    CHECK(names(plan, 1) == Names{"z_7"});  // complex numbers cannot be an index
    CHECK(names(plan, 3) == Names{"g_3"});
}

TEST_CASE("the rows of a table are a dimension of its name in its group, whatever its columns are called") {
    const std::vector<std::uint64_t> rows{5, 0};
    const auto plan = outline::plan_dimensions(
        schema_of({test::column_of("a/stars/m", f32, 0), test::column_of("a/stars/pos/x", f32, 0),
                   test::column_of("gas/gas", f32, 1)},
                  {"a/stars", "gas"}),
        rows);
    CHECK(names(plan, 0) == Names{"a/stars/stars"});
    CHECK(names(plan, 1) == Names{"a/stars/stars"});
    CHECK(names(plan, 2) == Names{"gas/gas_0"});
    CHECK(plan.all[plan.of[0][0]].length == 5);
    CHECK_FALSE(plan.all[plan.of[2][0]].coordinate.has_value());
}

TEST_CASE("the large sample: all lengths fit and no path is used for two things") {
    const auto schema = test::view_schema();
    const std::vector<std::uint64_t> rows{100, 10, 0};
    const auto plan = outline::plan_dimensions(schema, rows);
    std::set<std::string> taken;
    for (const auto& variable : schema.variables) taken.insert(variable.name);
    for (const auto& dimension : plan.all) {
        CAPTURE(dimension.path);
        if (!dimension.coordinate) CHECK(taken.insert(dimension.path).second);
    }
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        CAPTURE(schema.variables[v].name);
        const auto shape = outline::shown_shape(schema.variables[v], rows);
        REQUIRE(static_cast<int>(plan.of[v].size()) == shape.dims());
        for (int dim = 0; dim < shape.dims(); ++dim)
            CHECK(plan.all[plan.of[v][static_cast<std::size_t>(dim)]].length == shape[dim]);
        CHECK(std::set(plan.of[v].begin(), plan.of[v].end()).size() == plan.of[v].size());
    }
}
