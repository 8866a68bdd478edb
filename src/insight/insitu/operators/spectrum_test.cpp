// Goal: the spectrum of an array has the same bits for any cut, order and distribution of its blocks. An incomplete
// field is refused.
// Method: a field of splitmix, seed 4, as blocks of several cuts, in pieces of several lengths and orders, on one node
// and on three; parts cut short at every byte and with every byte changed.

#include <doctest/doctest.h>

#include <cstring>

#include "core/base/splitmix.hpp"
#include "core/describe/geometry.hpp"
#include "insight/insitu/analyser.hpp"
#include "insight/insitu/operators/makers.hpp"
#include "insight/insitu/power_spectrum.hpp"

using namespace forebay;
using namespace forebay::insitu;

namespace {

const Extents shape{7, 6, 10};

template <class T>
T value_at(std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    return static_cast<T>(splitmix(4, (i * 50 + j) * 50 + k) % 200);
}

// Blocks of at most `size` a dimension.
std::vector<Box> blocks_of(const Extents& size) {
    std::vector<Box> boxes;
    for (std::uint64_t i = 0; i < shape[0]; i += size[0])
        for (std::uint64_t j = 0; j < shape[1]; j += size[1])
            for (std::uint64_t k = 0; k < shape[2]; k += size[2])
                boxes.push_back({{i, j, k},
                                 {std::min(size[0], shape[0] - i), std::min(size[1], shape[1] - j),
                                  std::min(size[2], shape[2] - k)}});
    return boxes;
}

template <class T>
void give_block(Analyser& analyser, const Box& box, std::uint64_t piece_count, bool backwards) {
    std::vector<T> values;
    for (std::uint64_t i = 0; i < box.size[0]; ++i)
        for (std::uint64_t j = 0; j < box.size[1]; ++j)
            for (std::uint64_t k = 0; k < box.size[2]; ++k)
                values.push_back(value_at<T>(box.lo[0] + i, box.lo[1] + j, box.lo[2] + k));
    const auto pieces = (values.size() + piece_count - 1) / piece_count;
    for (std::uint64_t n = 0; n < pieces; ++n) {
        const auto first = (backwards ? pieces - 1 - n : n) * piece_count;
        const auto count = std::min<std::uint64_t>(piece_count, values.size() - first);
        const auto column = std::as_bytes(std::span(values).subspan(first, count));
        analyser.take({.columns = {&column, 1}, .first = first, .count = count, .box = box});
    }
}

Variable field_of(Type type) {
    return {.name = "fields/u", .type = type, .kind = Kind::array, .shape = shape, .attributes = {.unit = "K"}};
}

std::unique_ptr<Analyser> analyser_of(Type type, const std::vector<double>& length = {}) {
    const std::vector variables{field_of(type)};
    return make_analyser({.name = "p", .kind = Analysis::Kind::spectrum, .length = length}, variables).value();
}

template <class T>
std::vector<T> numbers_of(const FoundVariable& variable) {
    std::vector<T> numbers(variable.bytes.size() / sizeof(T));
    std::memcpy(numbers.data(), variable.bytes.data(), variable.bytes.size());
    return numbers;
}

bool same(const Made& a, const Made& b) {
    bool equal = a.variables.size() == b.variables.size();
    for (std::size_t i = 0; equal && i < a.variables.size(); ++i)
        equal = a.variables[i].name == b.variables[i].name && a.variables[i].bytes == b.variables[i].bytes;
    return equal;
}

template <class T>
Made made_of_whole() {
    const auto analyser = analyser_of(type_of<T>());
    give_block<T>(*analyser, blocks_of(shape)[0], 10'000, false);
    return analyser->make({}).value();
}

template <class T>
void check_cuts() {
    const auto whole = made_of_whole<T>();
    for (const auto& size : {Extents{1, 6, 10}, Extents{3, 4, 7}, Extents{7, 6, 1}, Extents{2, 2, 2}}) {
        const auto boxes = blocks_of(size);
        for (const std::uint64_t piece_count : {1, 3, 17, 1000}) {
            const auto forwards = analyser_of(type_of<T>());
            const auto backwards = analyser_of(type_of<T>());
            for (const auto& box : boxes) give_block<T>(*forwards, box, piece_count, false);
            for (auto i = boxes.size(); i-- > 0;) give_block<T>(*backwards, boxes[i], piece_count, true);
            CHECK(same(forwards->make({}).value(), whole));
            CHECK(same(backwards->make({}).value(), whole));
        }
        for (const bool swapped : {false, true}) {
            std::vector<std::unique_ptr<Analyser>> nodes;
            for (int node = 0; node < 3; ++node) nodes.push_back(analyser_of(type_of<T>()));
            for (std::size_t i = 0; i < boxes.size(); ++i) give_block<T>(*nodes[i % 3], boxes[i], 5, false);
            const auto all = analyser_of(type_of<T>());
            for (std::size_t i = 0; i < 3; ++i) REQUIRE(all->merge(nodes[swapped ? 2 - i : i]->part()));
            CHECK(same(all->make({}).value(), whole));
            REQUIRE(nodes[1]->merge(nodes[0]->part()));
            REQUIRE(nodes[1]->merge(nodes[2]->part()));
            CHECK(same(nodes[1]->make({}).value(), whole));
        }
    }
}

}  // namespace

TEST_CASE("spectrum: results of the whole field, with names and units") {
    const auto result = made_of_whole<double>();
    REQUIRE(result.variables.size() == 3);
    CHECK(result.pictures.empty());
    CHECK(result.variables[0].name == "fields/u/k");
    CHECK(result.variables[1].name == "fields/u/power");
    CHECK(result.variables[2].name == "fields/u/modes");
    CHECK(result.variables[0].type == f64);
    CHECK(result.variables[2].type == u64);
    CHECK(result.variables[0].attributes.unit == "waves per domain");
    CHECK(result.variables[1].attributes.unit == "(K)^2");
    auto grid = SpectralGrid<double>::make(shape).value();
    double sum = 0;
    for (std::uint64_t i = 0; i < shape[0]; ++i)
        for (std::uint64_t j = 0; j < shape[1]; ++j)
            for (std::uint64_t k = 0; k < shape[2]; ++k) sum += grid.row(i, j)[k] = value_at<double>(i, j, k);
    const auto shells = power_spectrum(grid, {}).value();
    CHECK(result.variables[0].shape == Extents{shells.k.size()});
    CHECK(numbers_of<double>(result.variables[0]) == shells.k);
    CHECK(numbers_of<double>(result.variables[1]) == shells.power);
    CHECK(numbers_of<std::uint64_t>(result.variables[2]) == shells.modes);
    CHECK(shells.power[0] == doctest::Approx(sum / 420 * sum / 420));
}

TEST_CASE("spectrum: the same bits for any cut, order of pieces and order of parts") {
    check_cuts<float>();
    check_cuts<double>();
    check_cuts<std::uint8_t>();
    check_cuts<std::int64_t>();
    CHECK(same(made_of_whole<std::int32_t>(), made_of_whole<double>()));
}

TEST_CASE("spectrum: lengths give wave numbers in their unit, and power a volume") {
    const auto whole = made_of_whole<float>();
    const auto in_units = analyser_of(f32, {2.5});
    give_block<float>(*in_units, blocks_of(shape)[0], 100, false);
    const auto result = in_units->make({}).value();
    CHECK(result.variables[1].attributes.unit == "(K)^2 times volume");
    const auto modes = numbers_of<std::uint64_t>(result.variables[2]);
    CHECK(modes == numbers_of<std::uint64_t>(whole.variables[2]));
    for (std::size_t s = 0; s < modes.size(); ++s) {
        CHECK(numbers_of<double>(result.variables[0])[s] ==
              doctest::Approx(numbers_of<double>(whole.variables[0])[s] * 2 * 3.14159265358979 / 2.5));
        CHECK(numbers_of<double>(result.variables[1])[s] ==
              doctest::Approx(numbers_of<double>(whole.variables[1])[s] * 2.5 * 2.5 * 2.5));
    }
}

TEST_CASE("spectrum: a field with missing elements is refused, and says so") {
    const auto boxes = blocks_of({3, 6, 10});
    const auto analyser = analyser_of(f32);
    CHECK(analyser->make({}).error().what.find("420 of its 420 elements are missing") != std::string::npos);
    give_block<float>(*analyser, boxes[0], 100, false);
    give_block<float>(*analyser, boxes[2], 100, false);
    const auto missing = analyser->make({});
    CHECK(missing.error().kind == ErrorKind::refused);
    CHECK(missing.error().what.find("180 of its 420 elements are missing in this snapshot") != std::string::npos);
    give_block<float>(*analyser, {{0, 0, 0}, {1, 6, 10}}, 100, false);
    give_block<float>(*analyser, {{0, 0, 0}, {2, 6, 10}}, 100, false);
    const auto twice = analyser->make({});
    CHECK(twice.error().what.find("same elements") != std::string::npos);
}

TEST_CASE("spectrum: variables and lengths that it cannot be made of are refused") {
    const auto refused = [](const Variable& variable, const std::vector<double>& length) {
        const std::vector variables{variable};
        const auto analyser = make_analyser({.kind = Analysis::Kind::spectrum, .length = length}, variables);
        return !analyser && analyser.error().kind == ErrorKind::refused;
    };
    auto flat = field_of(f32), complex = field_of(c64), text = field_of(string_of(4)), column = field_of(f32);
    flat.shape = {4, 4};
    column.kind = Kind::particles;
    CHECK(refused(flat, {}));
    CHECK(refused(complex, {}));
    CHECK(refused(text, {}));
    CHECK(refused(column, {}));
    CHECK(refused(field_of(f32), {1, 2}));
    CHECK(refused(field_of(f32), {0}));
    CHECK(refused(field_of(f32), {1, -1, 1}));
    CHECK(refused(field_of(f32), {1, std::numeric_limits<double>::quiet_NaN(), 1}));
    CHECK_FALSE(refused(field_of(f32), {1, 2, 3}));
}

TEST_CASE("spectrum: damaged parts are refused or add nothing that is not there") {
    const auto node = analyser_of(f32);
    for (const auto& box : blocks_of({7, 6, 5})) give_block<float>(*node, box, 100, false);
    const auto part = node->part();
    for (std::size_t size = 0; size < part.size(); ++size) {
        const auto all = analyser_of(f32);
        CHECK(all->merge(std::span(part).first(size)).error().kind == ErrorKind::corrupt);
        CHECK_FALSE(all->make({}));
    }
    auto more_elements = part;
    more_elements[0] ^= std::byte{1};  // 421 instead of 420
    CHECK(analyser_of(f32)->merge(more_elements).error().kind == ErrorKind::corrupt);
    auto longer = part;
    longer.push_back({});
    CHECK(analyser_of(f32)->merge(longer).error().kind == ErrorKind::corrupt);
    for (std::size_t at = 0; at < part.size(); at += at < 200 ? 1 : 61)
        for (const auto flip : {0x01, 0x80, 0xFF}) {
            auto damaged = part;
            damaged[at] ^= static_cast<std::byte>(flip);
            const auto all = analyser_of(f32);
            const auto merged = all->merge(damaged);
            if (merged) static_cast<void>(all->make({}));
            else CHECK(merged.error().kind == ErrorKind::corrupt);
        }
}
