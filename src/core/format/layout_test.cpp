// Goal: blocks lie at the places of layout.hpp, small and large variables at the places of the limits. A layout beyond
// a limit is refused.

#include "core/format/layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/limits.hpp"
#include "core/format/node_file.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

Variable variable(const std::string& name, Type type, Kind kind, const Extents& shape, std::uint32_t table = 0) {
    Variable variable;
    variable.name = name;
    variable.type = type;
    variable.kind = kind;
    variable.shape = shape;
    variable.table = table;
    return variable;
}

RankPart part(std::uint32_t rank, std::size_t variables, std::vector<std::uint64_t> rows) {
    return {rank, std::vector<std::vector<Box>>(variables), std::move(rows)};
}

Layout planned(const Schema& schema, const std::vector<RankPart>& parts, const LayoutOptions& options = {}) {
    auto layout = plan_layout(schema, parts, options);
    REQUIRE_MESSAGE(layout.has_value(), (layout ? "" : layout.error().text()));
    return std::move(*layout);
}

ErrorKind refusal(const Schema& schema, const std::vector<RankPart>& parts, const LayoutOptions& options = {}) {
    const auto layout = plan_layout(schema, parts, options);
    REQUIRE_FALSE(layout.has_value());
    return layout.error().kind;
}

/// Sizes around the limits, not in the order of their places.
Schema sizes_schema() {
    Schema schema{"s", {"t"}, {}};
    for (const std::uint64_t bytes : {3u << 20, 100u, 64u << 10, (64u << 10) - 1, 2u << 20, 1u, 5u << 20, 1u << 20})
        schema.variables.push_back(variable("v" + std::to_string(bytes), u8, Kind::replicated, {bytes}));
    schema.variables.push_back(variable("t/x", f64, Kind::particles, {}));
    schema.variables.push_back(variable("t/flag", u8, Kind::particles, {}));
    return schema;
}

}  // namespace

TEST_CASE("layout: names that may not be described any more are written and read as those of earlier versions were") {
    const std::string name =
        "dt\xc2\x9b"
        "31m";
    const Schema schema{"s", {}, {variable(name, f64, Kind::replicated, {})}};
    REQUIRE_FALSE(check_described(schema));
    const auto layout = planned(schema, {part(0, 1, {})});
    std::vector<std::byte> image(layout.file_bytes);
    encode(layout, image);
    seal(layout, {.nodes = 1, .world_ranks = 1}, image);
    CHECK(open_head(image, "node.h5").value().schema == schema);
}

TEST_CASE("layout: extents are aligned by their size, do not overlap and fit the file") {
    const auto schema = sizes_schema();
    for (const std::uint64_t alignment : {std::uint64_t{4096}, limits::huge_page_bytes}) {
        CAPTURE(alignment);
        const auto layout = planned(schema, {part(0, 10, {700'000}), part(3, 10, {5})}, {.alignment_bytes = alignment});
        std::vector<Extent> sorted = layout.extents;
        for (const auto& extent : sorted) {
            const auto expected = extent.capacity_bytes < limits::packed_variable_bytes ? limits::cache_line_bytes
                                  : extent.capacity_bytes < alignment                   ? limits::page_bytes
                                                                                        : alignment;
            CHECK(extent.offset_bytes % expected == 0);
            CHECK(extent.offset_bytes >= layout.data_offset_bytes);
        }
        std::ranges::sort(sorted, {}, &Extent::offset_bytes);
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            sum += sorted[i].capacity_bytes;
            const auto end = sorted[i].offset_bytes + sorted[i].capacity_bytes;
            CHECK(end <= (i + 1 < sorted.size() ? sorted[i + 1].offset_bytes : layout.file_bytes));
        }
        CHECK(layout.file_bytes % limits::page_bytes == 0);
        CHECK(layout.file_bytes <= layout.data_offset_bytes + 2 * sum + alignment);
        CHECK(layout.data_offset_bytes % limits::page_bytes == 0);
    }
}

TEST_CASE("layout: row capacity is a tenth more, and never less than the least") {
    const auto schema = sizes_schema();
    CHECK(planned(schema, {part(0, 10, {700'000}), part(3, 10, {300'000})}).row_capacity[0] == 1'100'000);
    CHECK(planned(schema, {part(0, 10, {0})}).row_capacity[0] == limits::headroom_rows_min);
    CHECK(planned(schema, {part(0, 10, {100'000})}, {.headroom_percent = 50}).row_capacity[0] == 150'000);
}

TEST_CASE("layout: blocks by variable, rank and piece, end to end, with segments of their own") {
    Schema schema{"s", {"t"}, {}};
    schema.variables.push_back(variable("u", f64, Kind::array, {1000, 1000}));
    schema.variables.push_back(variable("t/x", f64, Kind::particles, {}));
    schema.variables.push_back(variable("k", f32, Kind::replicated, {7}));
    std::vector<RankPart> parts{part(4, 3, {200'000}), part(6, 3, {0}), part(7, 3, {3})};
    parts[0].boxes[0] = {{{0, 0}, {500, 1000}}, {{500, 0}, {1, 10}}};
    parts[2].boxes[0] = {{{501, 0}, {499, 1000}}};
    auto layout = planned(schema, parts);

    REQUIRE(layout.blocks.size() == 3 + 3 + 1);
    CHECK(layout.first_block == std::vector<std::size_t>{0, 3, 6, 7});
    const std::vector<std::uint32_t> ranks{4, 4, 7, 4, 6, 7, 4};
    for (std::size_t b = 0; b < ranks.size(); ++b) CHECK(layout.blocks[b].rank == ranks[b]);
    for (std::size_t v = 0; v < 3; ++v) {
        auto end = layout.extents[v].offset_bytes;
        for (auto b = layout.first_block[v]; b < layout.first_block[v + 1]; ++b) {
            CHECK(layout.blocks[b].offset_bytes == end);
            end += layout.blocks[b].size_bytes;
        }
        CHECK(end == layout.extents[v].offset_bytes + layout.extents[v].used_bytes);
    }
    CHECK(layout.blocks[5].box == Box{{200'000}, {3}});
    CHECK(layout.blocks[6].box == Box{{0}, {7}});

    std::vector<int> used(layout.crc_words);
    for (const auto& block : layout.blocks)
        for (std::uint64_t i = 0; i < segments_of(block.size_bytes); ++i) ++used.at(block.first_segment + i);
    CHECK(std::ranges::count(used, 1) == static_cast<std::ptrdiff_t>(used.size()));
    CHECK(layout.crc_words == 4 + 1 + 4 + 2 + 1 + 1);

    // Ranks that exchange rows have more segments than one rank with all rows.
    const std::vector<std::uint64_t> spread{73'000, 73'000, 73'999};
    REQUIRE(change_rows(layout, spread));
    CHECK(layout.crc_words <= layout.crc_capacity_words);
    CHECK(layout.blocks[4].box == Box{{73'000}, {73'000}});
}

TEST_CASE("layout: equal inputs give equal layouts") {
    const auto schema = sizes_schema();
    const auto a = planned(schema, {part(0, 10, {7}), part(3, 10, {5})});
    const auto b = planned(schema, {part(0, 10, {7}), part(3, 10, {5})});
    CHECK(a.blocks == b.blocks);
    CHECK(a.headers.bytes == b.headers.bytes);
    CHECK(a.file_bytes == b.file_bytes);
}

TEST_CASE("layout: what passes a limit is refused") {
    Schema schema{"s", {"t"}, {variable("u", f64, Kind::array, {10, 10}), variable("t/x", f64, Kind::particles, {})}};
    auto original = part(0, 2, {1});
    const auto with_box = [&](const Box& box) {
        auto changed = original;
        changed.boxes[0] = {box};
        return std::vector<RankPart>{changed};
    };
    CHECK(plan_layout(schema, with_box({{5, 5}, {5, 5}}), {}).has_value());
    CHECK(refusal(schema, with_box({{5, 5}, {5, 6}})) == ErrorKind::refused);
    CHECK(refusal(schema, with_box({{UINT64_MAX, 0}, {2, 1}})) == ErrorKind::refused);
    CHECK(refusal(schema, with_box({{5}, {5}})) == ErrorKind::refused);
    CHECK(refusal(schema, {part(0, 2, {std::uint64_t{1} << 60})}) == ErrorKind::refused);
    CHECK(refusal(schema, {part(0, 2, {UINT64_MAX}), part(1, 2, {UINT64_MAX})}) == ErrorKind::refused);
    CHECK(refusal(schema, {original}, {.alignment_bytes = 5000}) == ErrorKind::refused);
    CHECK(refusal(schema, {original}, {.alignment_bytes = 0}) == ErrorKind::refused);
    CHECK(refusal(schema, {}) == ErrorKind::broken);
    CHECK(refusal(schema, {part(1, 2, {1}), part(1, 2, {1})}) == ErrorKind::broken);
    CHECK(refusal(schema, {part(0, 2, {})}) == ErrorKind::broken);
    CHECK(refusal(schema, {part(0, 1, {1})}) == ErrorKind::broken);

    auto changed = schema;
    changed.variables[0].name = "bad\xff";
    CHECK(refusal(changed, {original}) == ErrorKind::refused);
    for (const std::string name : {"units", "long_name", "forebay_shape"}) {
        changed = schema;
        changed.variables[0].attributes.others = {{name, std::int64_t{1}}};
        CHECK(refusal(changed, {original}) == ErrorKind::refused);
    }
    changed = schema;
    for (int i = 0; i <= 1000; ++i) changed.variables[0].attributes.others.emplace_back("a" + std::to_string(i), 1.0);
    CHECK(refusal(changed, {original}) == ErrorKind::refused);
    for (const std::string text : {"\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "a\xe2\x82"}) {
        changed = schema;
        changed.variables[0].attributes.description = text;
        CHECK(refusal(changed, {original}) == ErrorKind::refused);
    }
}

TEST_CASE("schema: reads back from its JSON, whatever its attributes hold") {
    Schema schema{
        "s", {"t"}, {variable("u", string_of(17), Kind::array, {10, 10}), variable("t/x", f16, Kind::particles, {})}};
    schema.variables[0].coverage = Coverage::partial;
    schema.variables[0].attributes = {"\xc2\xb5m",
                                      "quotes \" and \\, tabs\t and lines\n",
                                      {"y", "x"},
                                      {{"i", std::numeric_limits<std::int64_t>::min()},
                                       {"j", std::numeric_limits<std::int64_t>::max()},
                                       {"one", 1.0},
                                       {"tiny", 5e-324},
                                       {"third", 1.0 / 3},
                                       {"zero", -0.0},
                                       {"inf", -std::numeric_limits<double>::infinity()},
                                       {"text", std::string("nan")},
                                       {"none", std::string()}}};
    const auto read = schema_from_json(schema_json(schema));
    REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().text()));
    CHECK(*read == schema);
    CHECK(std::signbit(std::get<double>(read->variables[0].attributes.others[5].second)));

    schema.variables[0].attributes.others = {{"nan", std::nan("")}};
    const auto nan = schema_from_json(schema_json(schema));
    REQUIRE(nan);
    CHECK(std::isnan(std::get<double>(nan->variables[0].attributes.others[0].second)));
    CHECK(schema_from_json("{}").error().kind == ErrorKind::corrupt);
    CHECK(schema_from_json(std::string(100'000, '[')).error().kind == ErrorKind::corrupt);
}
