// Goal: a slice has exactly the bytes of the plane, for any type, dimension, cut and nodes. Elements that no block
// holds are NaN or 0, and counted. Invalid variables and damaged parts are refused.
// Method: random bytes against the same elements picked one by one, in 1 to 7 cuts and nodes.

#include <doctest/doctest.h>

#include <cmath>

#include "support/cut_world.hpp"

using namespace forebay;
using namespace forebay::insitu;

namespace {

std::vector<std::byte> random_bytes(std::size_t count, std::mt19937_64& random) {
    std::vector<std::byte> bytes(count);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
}

std::vector<std::byte> picked(const Variable& variable, const std::vector<std::byte>& bytes, int axis,
                              std::uint64_t at) {
    std::vector<std::byte> plane;
    const auto size = variable.type.size_bytes;
    for (std::uint64_t element = 0; element < variable.elements(); ++element) {
        auto rest = element;
        std::uint64_t index = 0;
        for (int dim = variable.shape.dims() - 1; dim >= 0; --dim) {
            if (dim == axis) index = rest % variable.shape[dim];
            rest /= variable.shape[dim];
        }
        if (axis >= 0 && index != at) continue;
        plane.insert(plane.end(), bytes.begin() + static_cast<std::ptrdiff_t>(element * size),
                     bytes.begin() + static_cast<std::ptrdiff_t>((element + 1) * size));
    }
    return plane;
}

}  // namespace

TEST_CASE("a slice is the plane's bytes, however the array is cut") {
    std::mt19937_64 random(21);
    for (int round = 0; round < 120; ++round) {
        const Type types[] = {f32, f64, i16, u8, c128, f16, string_of(5)};
        Variable variable{.name = "fields/u", .type = types[round % 7], .kind = Kind::array};
        const int dims = 2 + round % 3;
        for (int dim = 0; dim < dims; ++dim) variable.shape.push_back(1 + random() % 9);
        const auto bytes = random_bytes(variable.elements() * variable.type.size_bytes, random);
        Analysis analysis{.name = "cut", .kind = Analysis::Kind::slice, .picture = false};
        analysis.axis = static_cast<int>(random() % static_cast<std::uint64_t>(dims));
        if (round % 2 == 0) analysis.at = static_cast<std::int64_t>(random() % variable.shape[analysis.axis]);
        const auto at = analysis.at < 0 ? variable.shape[analysis.axis] / 2 : static_cast<std::uint64_t>(analysis.at);
        const int axis = dims == 2 ? -1 : analysis.axis;

        const CutWorld world(variable, bytes);
        const auto boxes = world.blocks(round % 8, random);
        const auto result = world.made(analysis, boxes, 1 + static_cast<std::size_t>(round) % 7, random).value();
        REQUIRE(result.variables.size() == 1);
        const auto& plane = result.variables[0];
        CHECK(plane.name == "fields/u/plane");
        CHECK(plane.type == variable.type);
        CHECK(plane.shape == without(variable.shape, axis));
        CHECK(plane.bytes == picked(variable, bytes, axis, at));
        CHECK(plane.attributes.others.size() == (axis < 0 ? 0 : 2) + (plane.shape.dims() == 2 ? 2 : 0));
        CHECK(result.pictures.empty());
    }
}

TEST_CASE("elements that no block holds are NaN, or 0, and counted") {
    std::mt19937_64 random(22);
    Variable variable{.name = "u", .type = f32, .kind = Kind::array, .shape = {4, 4, 4}, .coverage = Coverage::partial};
    variable.attributes.unit = "K";
    const Analysis analysis{.name = "cut", .kind = Analysis::Kind::slice, .at = 1};
    const CutWorld world(variable, bytes_of_values(std::vector<float>(64, 2.5f)));
    const auto result = world.made(analysis, {Box{{0, 0, 0}, {2, 2, 4}}}, 3, random).value();
    const auto values = values_of<float>(result.variables[0]);
    for (std::size_t i = 0; i < 16; ++i) CHECK((i < 8 ? values[i] == 2.5f : std::isnan(values[i])));
    const auto& attributes = result.variables[0].attributes;
    CHECK(attributes.unit == "K");
    REQUIRE(attributes.others.size() == 5);
    CHECK(attributes.others[2].first == "missing");
    CHECK(std::get<std::int64_t>(attributes.others[2].second) == 8);
    REQUIRE(result.pictures.size() == 1);
    CHECK(result.pictures[0].name == "u");
    CHECK(result.pictures[0].png.size() > 500);

    variable.type = u16;
    const CutWorld whole_numbers(variable, bytes_of_values(std::vector<std::uint16_t>(64, 7)));
    const auto numbers = whole_numbers.made(analysis, {}, 1, random).value();
    CHECK(values_of<std::uint16_t>(numbers.variables[0]) == std::vector<std::uint16_t>(16, 0));
}

TEST_CASE("a plane says what is across and up, and how large its cells are") {
    std::mt19937_64 random(24);
    Variable variable{.name = "u", .type = f32, .kind = Kind::array, .shape = {2, 4, 5}};
    variable.attributes.dimensions = {"z", "y", ""};
    const CutWorld world(variable, random_bytes(variable.elements() * 4, random));
    const auto sides_of = [&](const Analysis& analysis) {
        auto others = world.made(analysis, world.blocks(0, random), 1, random).value().variables[0].attributes.others;
        others.erase(others.begin(), others.begin() + 2);  // axis and at
        return others;
    };
    using Others = decltype(Attributes::others);
    Analysis analysis{.name = "cut", .kind = Analysis::Kind::slice, .axis = 1};
    CHECK(sides_of(analysis) == Others{{"across", std::string("axis 2")}, {"up", std::string("z")}});
    analysis.length = {8, 1, 10};
    CHECK(
        sides_of(analysis) ==
        Others{{"across", std::string("axis 2")}, {"cell_width", 2.0}, {"up", std::string("z")}, {"cell_height", 4.0}});
}

TEST_CASE("what has no such plane is refused") {
    const auto kind_of = [](const Variable& variable, const Analysis& analysis) {
        const auto analyser = make_analyser(analysis, {&variable, 1});
        return analyser ? std::string("taken") : analyser.error().what;
    };
    const Variable cube{.name = "u", .type = f32, .kind = Kind::array, .shape = {4, 5, 6}};
    Analysis analysis{.name = "cut", .kind = Analysis::Kind::slice};
    CHECK(kind_of(cube, analysis) == "taken");
    analysis.axis = 3;
    CHECK(kind_of(cube, analysis) == "variable 'u' of shape 4 x 5 x 6 has no dimension 3");
    analysis.axis = 1;
    analysis.at = 5;
    CHECK(kind_of(cube, analysis) == "variable 'u' of shape 4 x 5 x 6 has no plane 5 of dimension 1");
    analysis.at = 4;
    CHECK(kind_of(cube, analysis) == "taken");
    auto other = cube;
    other.shape = {6};
    CHECK(kind_of(other, analysis) == "variable 'u' of shape 6 has less than 2 dimensions, and so cannot be sliced");
    other.shape = {3, 5, 3, 3};
    CHECK(kind_of(other, analysis) ==
          "variable 'u' of shape 3 x 5 x 3 x 3 leaves 3 x 3 x 3, which cannot be drawn as a picture");
    analysis.picture = false;
    CHECK(kind_of(other, analysis) == "taken");
    other.kind = Kind::particles;
    CHECK(kind_of(other, analysis) == "variable 'u' is not an array, and so cannot be sliced");
}

TEST_CASE("damaged parts are refused") {
    std::mt19937_64 random(23);
    const Variable variable{.name = "u", .type = f32, .kind = Kind::array, .shape = {4, 3, 5}};
    const Analysis analysis{.name = "cut", .kind = Analysis::Kind::slice, .axis = 1, .picture = false};
    const CutWorld world(variable, random_bytes(variable.elements() * 4, random));
    const auto analyser = make_analyser(analysis, {&variable, 1}).value();
    for (const auto& block : world.blocks(3, random)) world.give(*analyser, block, random);
    const auto part = analyser->part();
    CHECK(taken_beginnings(analysis, variable, part, random) == 0);
    // The same node twice gives each element twice.
    const auto whole = make_analyser(analysis, {&variable, 1}).value();
    REQUIRE(whole->merge(part));
    REQUIRE(whole->merge(part));
    const auto result = whole->make({});
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::corrupt);
}
