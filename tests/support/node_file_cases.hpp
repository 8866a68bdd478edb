// Node files for the tests of readers: each case is a small schema with predictable data. The value of element e of a
// variable (numbered over the node) is e, as far as the type can hold it. value_of() in tests/readers/cases.py has the
// same rule.

#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/format/layout.hpp"
#include "core/format/node_file.hpp"

namespace forebay::test {

struct NodeFileCase {
    Schema schema;
    std::vector<format::RankPart> parts;
    std::vector<std::uint64_t> later_rows;  // if not empty: the layout is encoded, then patched to these rows
    std::uint32_t node = 0, nodes = 1;
    std::uint32_t world_ranks = 0;  // 0: world ranks end with the last rank of the node
};

inline const std::vector<std::pair<std::string, Type>>& all_types() {
    static const std::vector<std::pair<std::string, Type>> types{
        {"f16", f16}, {"f32", f32}, {"f64", f64}, {"c64", c64}, {"c128", c128}, {"i8", i8},   {"i16", i16},
        {"i32", i32}, {"i64", i64}, {"u8", u8},   {"u16", u16}, {"u32", u32},   {"u64", u64}, {"text", string_of(5)}};
    return types;
}

inline void add_rank(NodeFileCase& example, std::uint32_t rank, std::vector<std::uint64_t> rows) {
    example.parts.push_back({rank, std::vector<std::vector<Box>>(example.schema.variables.size()), std::move(rows)});
}

/// Every type in every kind, nested groups, attributes, a rank without data, an empty table.
inline NodeFileCase mixed_case() {
    NodeFileCase example;
    example.schema.stream = "restart";
    example.schema.tables = {"stars", "none"};
    auto& variables = example.schema.variables;
    for (const auto& [name, type] : all_types()) {
        variables.push_back({"scalars/" + name, type, Kind::replicated, {}, 0, Coverage::full, {}});
        variables.push_back({"fields/deep/er/" + name, type, Kind::array, {4, 6}, 0, Coverage::full, {}});
        variables.push_back({"stars/" + name, type, Kind::particles, {}, 0, Coverage::full, {}});
    }
    variables.push_back({"none/x", f64, Kind::particles, {}, 1, Coverage::full, {}});
    variables.push_back({"top", i32, Kind::replicated, {2, 3}, 0, Coverage::full, {}});
    variables.push_back({"elsewhere", f32, Kind::array, {8}, 0, Coverage::partial, {}});
    variables[1].attributes = {
        "m s-1",
        "wind, eastward",
        {"y", "x"},
        {{"count", std::int64_t{-3}}, {"scale", 0.25}, {"note", std::string("caf\xc3\xa9")}, {"empty", std::string()}}};
    add_rank(example, 2, {3, 0});
    add_rank(example, 3, {0, 0});
    add_rank(example, 5, {4, 0});
    for (std::size_t v = 0; v < variables.size(); ++v) {
        if (variables[v].kind != Kind::array || variables[v].name == "elsewhere") continue;
        example.parts[0].boxes[v] = {{{0, 0}, {2, 6}}, {{2, 0}, {2, 2}}};
        example.parts[2].boxes[v] = {{{2, 2}, {2, 4}}};
    }
    return example;
}

/// `count` arrays of one f32 in one group, and as many columns of an empty table.
inline NodeFileCase many_case(std::size_t count) {
    NodeFileCase example;
    example.schema.stream = "many";
    example.schema.tables = {"t"};
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = std::to_string(i);
        example.schema.variables.push_back({"fields/v" + number, f32, Kind::array, {1}, 0, Coverage::full, {}});
        example.schema.variables.push_back({"t/c" + number, f32, Kind::particles, {}, 0, Coverage::full, {}});
    }
    add_rank(example, 0, {0});
    for (std::size_t v = 0; v < 2 * count; v += 2) example.parts[0].boxes[v] = {{{0}, {1}}};
    return example;
}

/// One group for each variable, all in the root.
inline NodeFileCase groups_case(std::size_t count) {
    NodeFileCase example;
    example.schema.stream = "groups";
    for (std::size_t i = 0; i < count; ++i)
        example.schema.variables.push_back(
            {"g" + std::to_string(i) + "/v", i32, Kind::replicated, {}, 0, Coverage::full, {}});
    add_rank(example, 0, {});
    return example;
}

/// No variables.
inline NodeFileCase bare_case() {
    NodeFileCase example;
    example.schema.stream = "bare";
    add_rank(example, 0, {});
    return example;
}

/// A field of 12 GiB with a field behind it at an address over 32 bits. The file is sparse.
inline NodeFileCase huge_case() {
    NodeFileCase example;
    example.schema.stream = "huge";
    example.schema.variables.push_back({"big", f64, Kind::array, {1610612736}, 0, Coverage::full, {}});
    example.schema.variables.push_back({"after", f64, Kind::array, {131072}, 0, Coverage::full, {}});
    add_rank(example, 0, {});
    example.parts[0].boxes[0] = {{{0}, {1610612736}}};
    example.parts[0].boxes[1] = {{{0}, {131072}}};
    return example;
}

/// Rows that changed after encoding: one table goes from rows to none, one from none to rows.
inline NodeFileCase patched_case() {
    NodeFileCase example;
    example.schema.stream = "patched";
    example.schema.tables = {"a", "b"};
    example.schema.variables.push_back({"a/x", f64, Kind::particles, {}, 0, Coverage::full, {}});
    example.schema.variables.push_back({"b/x", f32, Kind::particles, {}, 1, Coverage::full, {}});
    example.schema.variables.push_back({"b/id", i64, Kind::particles, {}, 1, Coverage::full, {}});
    add_rank(example, 0, {5, 0});
    add_rank(example, 1, {7, 0});
    example.later_rows = {0, 0, 6, 9};
    return example;
}

/// An array and a scalar: the smallest file with every structure but tables.
inline NodeFileCase field_case() {
    NodeFileCase example;
    example.schema.stream = "field";
    example.schema.variables.push_back(
        {"rho", f64, Kind::array, {4, 3}, 0, Coverage::full, {"kg m-3", "density", {"y", "x"}, {}}});
    example.schema.variables.push_back({"time", f64, Kind::replicated, {}, 0, Coverage::full, {}});
    add_rank(example, 0, {});
    add_rank(example, 1, {});
    example.parts[0].boxes[0] = {{{0, 0}, {2, 3}}};
    example.parts[1].boxes[0] = {{{2, 0}, {2, 3}}};
    return example;
}

/// One of the two node files of a snapshot. Ranks 0 and 1 are on node 0, ranks 2 to 4 on node 1.
inline NodeFileCase snapshot_case(std::uint32_t node) {
    NodeFileCase example;
    example.schema.stream = "restart";
    example.schema.tables = {"stars"};
    example.schema.variables.push_back(
        {"fields/u", f64, Kind::array, {10, 4}, 0, Coverage::full, {"m s-1", "wind", {"y", "x"}, {}}});
    example.schema.variables.push_back({"mask", u8, Kind::array, {8}, 0, Coverage::partial, {}});
    example.schema.variables.push_back({"stars/x", f32, Kind::particles, {}, 0, Coverage::full, {"Mpc", "", {}, {}}});
    example.schema.variables.push_back({"stars/id", i64, Kind::particles, {}, 0, Coverage::full, {}});
    example.schema.variables.push_back({"a", f64, Kind::replicated, {}, 0, Coverage::full, {}});
    example.node = node;
    example.nodes = 2;
    example.world_ranks = 5;
    const std::uint32_t first = node == 0 ? 0 : 2;
    for (auto rank = first; rank < (node == 0 ? 2 : 5); ++rank) {
        add_rank(example, rank, {rank * 10});
        example.parts.back().boxes[0] = {{{2 * rank, 0}, {2, 4}}};
    }
    if (node == 1) example.parts.back().boxes[1] = {{{0}, {2}}, {{5}, {3}}};
    return example;
}

/// Stores element number `e` as `type`.
inline void store_value(std::byte* to, Type type, std::uint64_t e) {
    const auto real = static_cast<double>(e);
    const auto single = static_cast<float>(e);
    switch (type.scalar) {
        // The cases use only whole numbers up to 31, so shifting the exponent is exact.
        case Scalar::f16: {
            std::uint16_t bits = 0;
            if (e % 32 != 0) {
                const auto exponent = static_cast<unsigned>(63 - __builtin_clzll(e % 32));
                bits = static_cast<std::uint16_t>(((15 + exponent) << 10) | (((e % 32) << (10 - exponent)) & 0x3FFu));
            }
            return store_le(to, bits);
        }
        case Scalar::f32: return store_le(to, single);
        case Scalar::f64: return store_le(to, real);
        case Scalar::c64: store_le(to, single); return store_le(to + 4, -single);
        case Scalar::c128: store_le(to, real); return store_le(to + 8, -real);
        case Scalar::string: {
            std::string text = "s" + std::to_string(e % 1000);
            text.resize(type.size_bytes);
            std::memcpy(to, text.data(), text.size());
            return;
        }
        default: std::memcpy(to, &e, type.size_bytes);
    }
}

/// Fills and checksums every block, as ranks do.
inline void fill(const format::Layout& layout, std::span<std::byte> image) {
    auto words = format::crc_words(layout, image);
    for (std::size_t v = 0; v < layout.schema.variables.size(); ++v) {
        const auto type = layout.schema.variables[v].type;
        const auto& extent = layout.extents[v];
        for (std::uint64_t e = 0; e < extent.used_bytes / type.size_bytes; ++e)
            store_value(image.data() + extent.offset_bytes + e * type.size_bytes, type, e);
    }
    for (const auto& block : layout.blocks) {
        for (std::uint64_t done = 0, i = block.first_segment; done < block.size_bytes;
             done += limits::segment_bytes, ++i)
            words[i] = crc32c(
                image.subspan(block.offset_bytes + done, std::min(limits::segment_bytes, block.size_bytes - done)));
    }
}

inline format::Record example_record(std::uint32_t world_ranks) {
    return {.snapshot_id = 0x00f30000c0ffee9a,
            .step = 120,
            .time = 0.5,
            .sealed_unix_ns = 1'700'000'000'000'000'000,
            .node = 0,
            .nodes = 1,
            .world_ranks = world_ranks};
}

inline format::Record record_of(const NodeFileCase& example) {
    auto record = example_record(example.world_ranks != 0 ? example.world_ranks : example.parts.back().rank + 1);
    record.node = example.node;
    record.nodes = example.nodes;
    return record;
}

}  // namespace forebay::test
