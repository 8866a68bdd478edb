// Goal: the arithmetic of boxes, shares and strided walks is right. check(Schema) refuses each broken rule;
// check_described() refuses more names.

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "core/base/show_text.hpp"
#include "core/describe/geometry.hpp"
#include "core/describe/schema.hpp"

using namespace forebay;

TEST_CASE("types: every name reads back") {
    for (const auto type : {f16, f32, f64, c64, c128, i8, i16, i32, i64, u8, u16, u32, u64, string_of(17)})
        CHECK(*type_named(name_of(type)) == type);
    for (const char* bad : {"", "f8", "string[0]", "string[x]", "string[3", "string[99999999]"})
        CHECK(!type_named(bad));
}

TEST_CASE("intersect and bounding") {
    const Box a{{0, 0}, {4, 4}};
    CHECK(*intersect(a, {{2, 3}, {9, 9}}) == Box{{2, 3}, {2, 1}});
    CHECK(!intersect(a, {{4, 0}, {1, 1}}));
    CHECK(!intersect(a, {{0, 0}, {0, 4}}));
    CHECK(bounding(a, {{6, 1}, {1, 9}}) == Box{{0, 0}, {7, 10}});
}

TEST_CASE("inside does not overflow") {
    CHECK(inside({{1, 2}, {3, 2}}, {4, 4}));
    CHECK(!inside({{1, 2}, {4, 2}}, {4, 4}));
    CHECK(!inside({{1, 2}, {~0ull, 2}}, {4, 4}));
    CHECK(!inside({{1}, {1}}, {4, 4}));
}

TEST_CASE("balanced_share: in order, without gaps, equal to one row") {
    for (const std::uint32_t parts : {1u, 2u, 3u, 5u, 17u}) {
        for (const std::uint64_t total : {0ull, 1ull, 16ull, 17ull, 1000ull}) {
            std::uint64_t next = 0;
            for (std::uint32_t i = 0; i < parts; ++i) {
                const auto share = balanced_share(total, i, parts);
                CHECK(share.first == next);
                CHECK(share.count >= total / parts);
                CHECK(share.count <= total / parts + 1);
                next += share.count;
            }
            CHECK(next == total);
        }
    }
}

TEST_CASE("grown: a halo ends at the global shape") {
    std::vector<double> memory(6 * 7);
    const auto piece = with_halo({{0, 3}, {4, 3}}, {1, 2}, memory.data());
    CHECK(piece.data == memory.data() + 1 * 7 + 2);
    CHECK(grown(piece, {10, 7}) == Box{{0, 1}, {5, 6}});
}

TEST_CASE("for_each_run: copies any box between any two layouts") {
    std::vector<int> from(5 * 6 * 7);
    std::iota(from.begin(), from.end(), 0);
    const Extents size{2, 3, 4};
    const auto strides = packed_strides({5, 6, 7}, sizeof(int));
    std::vector<int> to(24, -1);
    int runs = 0;
    for_each_run(size, sizeof(int), strides, packed_strides(size, sizeof(int)),
                 [&](std::int64_t a, std::int64_t b, std::uint64_t bytes) {
                     std::memcpy(reinterpret_cast<char*>(to.data()) + b, reinterpret_cast<const char*>(from.data()) + a,
                                 bytes);
                     ++runs;
                 });
    CHECK(runs == 6);
    for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 4; ++x) CHECK(to[static_cast<std::size_t>((z * 3 + y) * 4 + x)] == (z * 6 + y) * 7 + x);
}

TEST_CASE("for_each_run: contiguous boxes are one run, empty boxes none, transposed ones element by element") {
    const auto count = [](const Extents& size, const Strides& a, const Strides& b) {
        int runs = 0;
        for_each_run(size, 8, a, b, [&](auto, auto, auto) { ++runs; });
        return runs;
    };
    const Extents size{3, 4, 5};
    const auto packed = packed_strides(size, 8);
    CHECK(count(size, packed, packed) == 1);
    CHECK(count({}, {}, {}) == 1);
    CHECK(count({3, 0, 5}, packed_strides({3, 0, 5}, 8), packed_strides({3, 0, 5}, 8)) == 0);
    CHECK(count(size, packed, {8, 24, 96}) == 60);
}

TEST_CASE("RunWalk::seek: the run and the byte that a walk from the start comes to, at every offset") {
    const std::pair<Extents, Extents> boxes[] = {{{2, 3, 4}, {5, 6, 7}},
                                                 {{2, 3, 4}, {2, 3, 4}},
                                                 {{3, 1, 2}, {3, 4, 5}},
                                                 {{1, 4, 1}, {2, 5, 3}},
                                                 {{7}, {7}},
                                                 {{}, {}}};
    for (const auto& [size, around] : boxes) {
        const auto a = packed_strides(around, 3);
        for (const auto& b : {packed_strides(size, 3), Strides{5, 25, 100}}) {
            const RunWalk whole(size, 3, a, b);
            for (std::uint64_t offset = 0; offset < 700; ++offset) {
                auto expected = whole;
                while (!expected.done() && static_cast<std::uint64_t>(expected.a()) + expected.run_bytes() <= offset)
                    expected.next();
                auto walk = whole;
                for (int i = 0; i < 2 && !walk.done(); ++i) walk.next();  // from any position
                if (walk.done()) walk = whole;
                const auto into = walk.seek(offset);
                REQUIRE(walk.done() == expected.done());
                if (walk.done()) continue;
                REQUIRE(walk.a() == expected.a());
                REQUIRE(walk.b() == expected.b());
                REQUIRE(into == offset - std::min(offset, static_cast<std::uint64_t>(walk.a())));
                walk.next();
                expected.next();
                REQUIRE(walk.done() == expected.done());
                REQUIRE((walk.done() || walk.a() == expected.a()));
            }
        }
    }
}

namespace {
Schema with(const Variable& variable) {
    return {.stream = "restart", .tables = {}, .variables = {{.name = "a/b", .type = f64}, variable}};
}
}  // namespace

TEST_CASE("check(Schema) accepts what is right and names what is not") {
    CHECK(check(with({.name = "fields/u", .type = f32, .kind = Kind::array, .shape = {2, 3}})));
    const auto refused = [](const Variable& variable, const char* why) {
        const auto result = check(with(variable));
        REQUIRE(!result);
        CHECK(result.error().kind == ErrorKind::refused);
        CAPTURE(result.error().text());
        CHECK(result.error().text().find(why) != std::string::npos);
    };
    refused({.name = "a/b", .type = f64}, "twice");
    refused({.name = "a", .type = f64}, "cannot be a group");
    refused({.name = "a/b/c", .type = f64}, "cannot be a group");
    refused({.name = "/a", .type = f64}, "empty");
    refused({.name = "x//y", .type = f64}, "empty");
    refused({.name = "", .type = f64}, "empty");
    refused({.name = "x/../y", .type = f64}, "'..'");
    refused({.name = "_forebay/x", .type = f64}, "reserved");
    refused({.name = std::string(300, 'x'), .type = f64}, "300 bytes");
    refused({.name = "x\ny", .type = f64}, "control");
    refused({.name = "x", .type = {Scalar::f32, 5}}, "element type");
    refused({.name = "x", .type = f64, .kind = Kind::array}, "at least one dimension");
    refused({.name = "x", .type = f64, .kind = Kind::array, .shape = {1, 2, 3, 4, 5, 6, 7, 8, 9}}, "9 dimensions");
    CHECK(check(with({.name = "x", .type = f64, .kind = Kind::array, .shape = {0, 3}})));
    CHECK(check(with({.name = "x", .type = f64, .kind = Kind::array, .shape = {1, 0}})));
    CHECK(check(with({.name = "x", .type = f64, .kind = Kind::replicated, .shape = {0}})));
    refused({.name = "x", .type = f64, .kind = Kind::array, .shape = {1ull << 40, 0, 1ull << 40}}, "2^62");
    refused({.name = "x", .type = f64, .kind = Kind::array, .shape = {1ull << 40, 1ull << 40}}, "2^62");
    refused({.name = "x", .type = f64, .kind = Kind::array, .shape = {4}, .attributes = {.dimensions = {"a", "b"}}},
            "dimension names");
    refused({.name = "x", .type = f64, .attributes = {.others = {{"k", 1.0}, {"k", 2.0}}}}, "given twice");
    refused({.name = "x", .type = f64, .kind = Kind::particles, .table = 3}, "table");
    Schema schema = with({.name = "x", .type = f64});
    schema.stream = ".hidden";
    CHECK(!check(schema));
}

TEST_CASE("names of a schema that grows and shrinks: what is refused changes nothing") {
    SchemaNames names;
    const auto describe = [&](const std::string& name) {
        return names.describe({.name = name, .type = f64}, 0).has_value();
    };
    CHECK(describe("a/b/c"));
    CHECK(describe("a/b/d"));
    CHECK(describe("x"));
    for (const char* wrong : {"a", "a/b", "a/b/c", "x/y", "x", "", "\xC2\x9B", "\xE2\x80\xAE"})
        CHECK_FALSE(describe(wrong));
    CHECK(names.size() == 3);
    CHECK(names.index_of("x") == 2);
    names.remove("a/b/c");
    CHECK(names.index_of("x") == 1);
    CHECK_FALSE(describe("a/b"));  // a/b/d is in it
    names.remove("a/b/d");
    CHECK(describe("a/b"));
    CHECK(names.index_of("a/b") == 1);
    CHECK_FALSE(names.index_of("a/b/d"));
    names.remove("nobody");
    CHECK(names.size() == 2);
}

TEST_CASE("check_described refuses names that command terminals, which check() accepts in files") {
    const auto only_in_files = [](const Schema& schema) {
        CHECK(check(schema));
        const auto described = check_described(schema);
        REQUIRE_FALSE(described);
        CHECK(described.error().kind == ErrorKind::refused);
        CAPTURE(described.error().text());
        CHECK(described.error().text().find("control characters") != std::string::npos);
        CHECK(is_showable(described.error().text()));
    };
    const Variable good{.name = "x", .type = f64, .kind = Kind::array, .shape = {4}};
    REQUIRE(check_described(with(good)));
    // The parentheses end the escape and join both texts.
    for (const std::string name : {("u\xc2\x9b"
                                    "31m"),
                                   "u\xc2\x85", "u\xe2\x80\xae", "u\xe2\x81\xa6", "u\xff"}) {
        auto variable = good;
        variable.name = name;
        only_in_files(with(variable));
        variable = good;
        variable.attributes.dimensions = {name};
        only_in_files(with(variable));
        variable = good;
        variable.attributes.others = {{name, 1.0}};
        only_in_files(with(variable));
        auto schema = with(good);
        schema.stream = name;
        only_in_files(schema);
        schema = with({.name = name + "/x", .type = f64, .kind = Kind::particles});
        schema.tables = {name};
        only_in_files(schema);
    }
    auto variable = good;
    variable.name = "fields/µ 日本";
    variable.attributes.unit = "any text\x1b";  // not a name
    CHECK(check_described(with(variable)));
}
