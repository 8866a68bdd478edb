// Goal: a shared file's plan has no overlap and aligned places, and the nodes' shares follow each other. The stretches
// of a node are exactly the places of its elements in the global row-major order.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/shared.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

constexpr std::uint64_t mib = 1u << 20;

Schema schema_of_all() {
    Schema schema;
    schema.stream = "restart";
    schema.tables = {"gas", "stars"};
    schema.variables = {
        {"dt", f64, Kind::replicated, {}, 0, Coverage::full, {}},
        {"u", f64, Kind::array, {64, 300, 20}, 0, Coverage::full, {}},
        {"gas/x", f32, Kind::particles, {}, 0, Coverage::full, {}},
        {"name", string_of(7), Kind::replicated, {3}, 0, Coverage::full, {}},
        {"stars/id", i64, Kind::particles, {}, 1, Coverage::full, {}},
        {"map", f32, Kind::array, {6, 5, 4}, 0, Coverage::partial, {}},
    };
    return schema;
}

SharedFile places_of(const Schema& schema, std::uint64_t alignment) {
    return {.nodes = 3,
            .heads_offset = shared_heads_offset(schema, SharedNaming::own),
            .region_bytes = shared_region_bytes(20'000),
            .alignment_bytes = alignment};
}

/// A stored node file of one array, with only the fields that the mapping uses.
NodeFile file_of(const Extents& shape, const std::vector<Box>& boxes, std::uint32_t element) {
    NodeFile file;
    file.storage = Storage::spread;
    file.schema.variables = {{"a", element == 4 ? f32 : f64, Kind::array, shape, 0, Coverage::partial, {}}};
    std::uint64_t used = 0;
    for (const auto& box : boxes) {
        const auto bytes = volume(box.size) * element;
        file.blocks.push_back({.offset_bytes = 4096 + used, .size_bytes = bytes, .box = box});
        used += bytes;
    }
    file.first_block = {0, boxes.size()};
    file.extents = {{4096, used, used, 1'000'000}};
    return file;
}

}  // namespace

TEST_CASE("a plan: no overlap, large variables aligned, small ones packed, the same place for equal numbers") {
    const auto schema = schema_of_all();
    for (const std::uint64_t alignment : {std::uint64_t{4096}, 3 * mib, 16 * mib}) {
        CAPTURE(alignment);
        const std::vector<std::uint64_t> rows{5'000'000, 0};
        const auto given = places_of(schema, alignment);
        const auto plan = place_shared(schema, given, rows);
        CHECK_FALSE(fault_in(plan.places, 3).has_value());
        std::map<std::uint64_t, std::uint64_t> taken;  // begin and end
        for (std::size_t v = 0; v < schema.variables.size(); ++v) {
            const auto& variable = schema.variables[v];
            const auto elements = variable.kind == Kind::particles ? rows[variable.table] : variable.elements();
            const auto bytes = elements * variable.type.size_bytes;
            if (bytes >= alignment) CHECK(plan.offsets[v] % alignment == 0);
            CHECK(plan.offsets[v] % limits::cache_line_bytes == 0);
            if (bytes > 0) CHECK(taken.emplace(plan.offsets[v], plan.offsets[v] + bytes).second);
        }
        std::uint64_t end = given.heads_offset + 3 * given.region_bytes;
        for (const auto& [begin, last] : taken) {
            CHECK(begin >= end);
            end = last;
        }
        CHECK(plan.places.file_bytes == round_up(end, limits::page_bytes));
        // All small variables lie within a page, not each in its own stripe.
        CHECK(plan.offsets[5] - plan.offsets[0] < limits::page_bytes);
        CHECK(place_shared(schema, given, rows).offsets == plan.offsets);
    }
}

TEST_CASE("shares of the nodes follow each other in columns, and are the whole of other variables") {
    const auto schema = schema_of_all();
    const std::vector<std::uint64_t> rows{100, 7};
    const auto plan = place_shared(schema, places_of(schema, 4096), rows);
    const std::vector<std::uint64_t> before{40, 7};
    const auto own = own_offsets(plan, schema, before);
    CHECK(own[0] == plan.offsets[0]);
    CHECK(own[1] == plan.offsets[1]);
    CHECK(own[2] == plan.offsets[2] + 160);
    CHECK(own[4] == plan.offsets[4] + 56);
}

TEST_CASE("heads end where the plan says whatever rows and step are") {
    const auto schema = schema_of_all();
    for (const auto naming : {SharedNaming::own, SharedNaming::h5part}) {
        auto given = places_of(schema, 4096);
        given.naming = static_cast<std::uint32_t>(naming);
        given.heads_offset = shared_heads_offset(schema, naming);
        for (const std::int64_t step : {std::int64_t{0}, std::int64_t{9'000'000'000'000'000'000}}) {
            for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1} << 40}) {
                const std::vector<std::uint64_t> rows{count, count};
                const auto file = place_shared(schema, given, rows).places;
                const CombinedPage page{.snapshot_id = 1, .step = step, .nodes = 3, .form = file};
                const auto head = encode_shared_head(page, schema, rows);
                CHECK(head.size() == given.heads_offset);
                CHECK(open_page(head, "shared.h5").value() == page);
                CHECK(load_le<std::uint64_t>(head.data() + 40) == file.file_bytes);
            }
        }
    }
}

TEST_CASE("stretches: every element of every box, once, where the global array has it") {
    struct Case {
        Extents shape;
        std::vector<Box> boxes;
        std::uint64_t stretches;
    };
    const std::vector<Case> cases{{{6, 4, 5}, {{{1, 0, 0}, {2, 4, 5}}, {{3, 0, 0}, {2, 4, 5}}}, 2},  // slabs
                                  {{6, 4, 5}, {{{1, 2, 0}, {3, 1, 5}}}, 3},   // whole rows of the last dimension
                                  {{6, 4, 5}, {{{0, 1, 2}, {6, 2, 2}}}, 12},  // a part of each
                                  {{6, 4, 5}, {{{2, 3, 1}, {1, 1, 3}}}, 1},
                                  {{7}, {{{2}, {0}}, {{3}, {4}}}, 1},
                                  {{3, 1, 5}, {{{0, 0, 1}, {3, 1, 4}}}, 3},  // a dimension of one
                                  {{2, 3, 4, 2}, {{{0, 1, 0, 0}, {2, 2, 4, 2}}}, 2}};
    for (const std::uint32_t element : {4u, 8u}) {
        for (const auto& each : cases) {
            const auto file = file_of(each.shape, each.boxes, element);
            const auto strides = packed_strides(each.shape, element);
            // The expected place of each plain byte, by counting.
            std::map<std::uint64_t, std::uint64_t> expected;
            for (const auto& block : file.blocks) {
                std::uint64_t plain = block.offset_bytes;
                Extents origin;
                for (int dim = 0; dim < each.shape.dims(); ++dim) origin.push_back(0);
                const auto own = packed_strides(block.box.size, element);
                const auto base = static_cast<std::uint64_t>(offset_bytes(block.box.lo, origin, strides));
                for_each_run(block.box.size, element, own, strides,
                             [&](std::int64_t, std::int64_t at, std::uint64_t bytes) {
                                 for (std::uint64_t i = 0; i < bytes; ++i)
                                     expected[plain++] = 1'000'000 + base + static_cast<std::uint64_t>(at) + i;
                             });
            }
            std::map<std::uint64_t, std::uint64_t> seen;
            std::uint64_t stretches = 0;
            const auto add = [&](const Stretch& stretch) {
                ++stretches;
                for (std::uint64_t i = 0; i < stretch.bytes; ++i)
                    CHECK(seen.emplace(stretch.plain_offset + i, stretch.offset + i).second);
                return true;
            };
            for_each_stretch(file, 0, 1 << 20, add);
            CHECK(seen == expected);
            CHECK(stretches == each.stretches);
            // In pieces that cut runs.
            seen.clear();
            for (std::uint64_t at = 0; at < 8192; at += 7) for_each_stretch(file, at, 7, add);
            CHECK(seen == expected);
            for (const auto& block : file.blocks) {
                if (block.size_bytes == 0) continue;
                const BlockRuns runs(file, block);
                for (std::uint64_t i = 0; i < runs.count(); ++i) {
                    CHECK(runs.first_after(runs.offset_of(i)) == i);
                    CHECK(runs.first_after(runs.offset_of(i) + runs.bytes()) == i + 1);
                }
            }
        }
    }
}

TEST_CASE("places that cannot be are found out") {
    const auto schema = schema_of_all();
    const std::vector<std::uint64_t> rows{10, 10};
    const auto good = place_shared(schema, places_of(schema, 4096), rows).places;
    CHECK_FALSE(fault_in(good, 3).has_value());
    const auto wrong = [&](auto&& change) {
        auto places = good;
        change(places);
        return fault_in(places, 3).has_value();
    };
    CHECK(fault_in(good, 4).has_value());
    CHECK(wrong([](auto& places) { places.naming = 2; }));
    CHECK(wrong([](auto& places) { places.heads_offset = 4096; }));
    CHECK(wrong([](auto& places) { places.heads_offset += 8; }));
    CHECK(wrong([](auto& places) { places.region_bytes = 8192; }));
    CHECK(wrong([](auto& places) { places.region_bytes = std::uint64_t{1} << 62; }));
    CHECK(wrong([](auto& places) { places.alignment_bytes = 0; }));
    CHECK(wrong([](auto& places) { places.file_bytes = places.heads_offset + 2 * places.region_bytes; }));
    CHECK(wrong([](auto& places) { places.file_bytes += 1; }));
}
